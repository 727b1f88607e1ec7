import type { Bench } from '../bench.ts';
import { compareSnapshots } from '../compare-snapshots.ts';
import type { Row } from '../row.ts';

/** A table of 2 000 rows, each with a link, a button and a checkbox. */
export const snapshotLarge: Row = {
  number: 5,
  title: 'snapshot of a table of 2 000 rows',
  run: (bench: Bench) =>
    compareSnapshots(bench, {
      path: '/table?rows=2000',
      elements: 12_000,
      holds: ['Order 0', 'Order 1999', 'Edit 1000', 'Select 1999'],
      refs: 6000,
      atMost: 0.25,
      calls: 1,
      rounds: bench.some(15, 1),
    }),
};
