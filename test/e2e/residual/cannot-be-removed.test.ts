import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { eventually } from '../../support/processes.ts';
import { TestService } from '../../support/service.ts';

const run = promisify(execFile);

test('what cannot be removed is in the receipt and turns readiness off; once it can be, the next start removes it', async ({
  skip,
}) => {
  await using first = await TestService.start(['--pool', '0']);
  const path = await first.session();
  const [name = ''] = (await readdir(join(first.root, 'r'))).filter((one) =>
    one.startsWith('airlock-chrome-'),
  );
  // The kernel removes no directory that something is mounted on.
  const held = join(first.root, 'r', name, 'files', 'held');
  await mkdir(held);
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', held]);
  } catch {
    return skip('mounting a tmpfs needs root');
  }
  try {
    const receipt = (await first.delete(path)).body;
    expect(receipt).toMatchObject({ zero: false, processes: { survivors: 0 } });
    expect(receipt.disk.survivors).toBeGreaterThan(0);
    expect(JSON.stringify(receipt.problems)).toContain(held);
    const notReady = await eventually(
      () => first.get('/readyz'),
      ({ status }) => status === 503,
    );
    expect(notReady.text).toContain('residue that cannot be removed');
    const { residual } = (await first.get('/v1/doctor')).body;
    expect(residual.status).not.toBe('pass');
    expect(residual.paths.join()).toContain(name);
    expect((await first.get('/metrics')).text).toMatch(/^airlock_residual\{kind="failed_removals"\} 1$/m);
    await first.stop('SIGKILL');
    // A start that finds it is not ready either.
    const second = await TestService.start(['--pool', '0'], { root: first.root });
    expect((await second.get('/readyz')).status).toBe(503);
    await second.stop();
  } finally {
    await run('umount', [held]);
  }
  const third = await TestService.start(['--pool', '0'], { root: first.root });
  expect((await third.get('/readyz')).status).toBe(200);
  expect((await readdir(join(first.root, 'r'))).filter((one) => one.startsWith('airlock-chrome-'))).toEqual(
    [],
  );
  await third.stop();
});
