import type { Bench } from '../bench.ts';
import { compareSnapshots } from '../compare-snapshots.ts';
import type { Row } from '../row.ts';

/** A sign-in form: what a request, a walk and an answer cost when there is little to walk. */
export const snapshotSmall: Row = {
  number: 6,
  title: 'snapshot of a small page',
  run: (bench: Bench) =>
    compareSnapshots(bench, {
      path: '/small',
      elements: 20,
      holds: ['Sign in', 'Email', 'Remember me', 'Prices'],
      refs: 8,
      atMost: 0.7,
      rounds: bench.some(100, 3),
      calls: 10,
    }),
};
