import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../../scripts/residual-stress.ts');

// Each cycle starts Chromes, and some of them a service twice.
test('twenty deaths, some of them of the service: nothing is left after each', {
  timeout: 300_000,
}, async () => {
  // Other tests end Chromes in other ways at the same time.
  const args = [SCRIPT, '--cycles', '20', '--many', '3', '--shared-machine'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('residual-stress: 20 deaths, nothing left');
  expect(stdout.match(/^\d+\/20 .*: nothing left/gm)).toHaveLength(20);
});
