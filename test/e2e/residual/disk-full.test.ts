import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PageServer } from '../../support/page-harness.ts';
import { eventually, processesWith } from '../../support/processes.ts';
import { TestService } from '../../support/service.ts';

const run = promisify(execFile);
const MIB = 1024 ** 2;

/** A file system of its own, as small as a test needs it; `undefined` where none may be mounted. */
async function smallDisk(mebibytes: number): Promise<(AsyncDisposable & { path: string }) | undefined> {
  const path = await mkdtemp(join(tmpdir(), 'a-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'tmpfs', path]);
  } catch {
    await rm(path, { recursive: true });
    return undefined;
  }
  const [disk, parent] = await Promise.all([stat(path), stat(join(path, '..'))]);
  expect(disk.dev).not.toBe(parent.dev);
  return {
    path,
    async [Symbol.asyncDispose]() {
      await run('umount', ['-l', path]);
      await rm(path, { recursive: true });
    },
  };
}

/** Writes until there is no room. */
async function fill(path: string): Promise<void> {
  await using file = await open(path, 'w');
  const block = Buffer.alloc(64 * 1024, 1);
  for (;;) {
    try {
      const { bytesWritten } = await file.write(block);
      if (bytesWritten < block.length) return;
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
      return;
    }
  }
}

test('a disk that is full in the middle of work: typed errors, the sessions can be closed, and all goes on when there is room', async ({
  skip,
}) => {
  await using disk = await smallDisk(96);
  if (!disk) return skip('mounting a tmpfs needs root');
  await using pages = await PageServer.open({
    '/': '<title>Page</title><h1>Page</h1><script>setInterval(() => { localStorage.k = "x".repeat(1e5) + Math.random(); }, 5)</script>',
  });
  const r = join(disk.path, 'r');
  await mkdir(r, { mode: 0o700 });
  await using service = await TestService.start([
    ...['--pool', '0', '--runtime-dir', r, '--allow', `127.0.0.1:${pages.port}`],
  ]);
  const path = await service.session();
  expect((await service.post(`${path}/navigate`, { url: pages.url('/') })).status).toBe(200);

  await fill(join(disk.path, 'ballast'));
  const heap = await service.post(`${path}/heap/snapshots`);
  expect([heap.status, heap.body.code]).toEqual([507, 'disk_full']);
  const refused = await service.post('/v1/sessions');
  expect(['disk_full', 'browser_unavailable']).toContain(refused.body.code);
  expect(refused.status).toBeLessThan(510);
  // What needs no disk works still, and what fails has a code.
  expect((await service.get('/livez')).status).toBe(200);
  for (const call of [
    service.post(`${path}/eval`, { expression: '1+1' }),
    service.post(`${path}/navigate`, { url: pages.url('/') }),
    service.get(`${path}/snapshot`),
  ]) {
    const answer = await call;
    if (answer.status !== 200) expect(answer.body.code).not.toBe('internal');
  }
  const receipt = (await service.delete(path)).body;
  expect(receipt).toMatchObject({ zero: true, disk: { survivors: 0 } });
  expect((await readdir(r)).filter((name) => name.startsWith('airlock-chrome-'))).toEqual([]);
  await eventually(
    () => processesWith(r),
    // The service itself has the directory in its command line.
    (left) => left.every(({ pid }) => pid === service.pid),
  );

  await rm(join(disk.path, 'ballast'));
  const next = await service.session();
  expect((await service.post(`${next}/navigate`, { url: pages.url('/') })).body.title).toBe('Page');
  const taken = await service.post(`${next}/heap/snapshots`);
  expect(taken.body.bytes).toBeLessThan(96 * MIB);
  expect((await service.delete(next)).body.zero).toBe(true);
});
