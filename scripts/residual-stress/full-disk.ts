/** A disk that is full while a session works on it: a small file system of its own, which needs root. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestService } from '../../test/support/service.ts';
import type { Death } from './session-deaths.ts';
import { expectNothing, Residue } from './stage.ts';

const SIZE = 'size=48m';

/** Whether this process may mount. */
export function canMount(): boolean {
  return process.getuid?.() === 0 && process.platform === 'linux';
}

export const fullDisk: Death = async (stage) => {
  const root = await mkdtemp(join(tmpdir(), 'a-'));
  const runtime = join(root, 'r');
  await mkdir(runtime, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `${SIZE},mode=700`, 'tmpfs', runtime], { stdio: 'pipe' });
  const service = await TestService.start([...stage.options.flags, '--pool', '0'], { root });
  try {
    const session = await stage.session({}, service);
    const id = session.split('/').at(-1) ?? '';
    const name = (await readdir(runtime)).find((one) => one.endsWith(id)) ?? '';
    await fill(join(runtime, name, 'files', 'filler'));
    await service.post(`${session}/navigate`, { url: stage.page });
    await service.post(`${session}/eval`, { expression: 'localStorage.setItem("k", "x".repeat(1e6)), 1' });
    const { status, body, text } = await service.delete(session);
    // Chrome may have died of it, which is a clear end too.
    const receipt = status === 410 ? body.receipt : body;
    if (receipt?.zero !== true) throw new Residue(`on a full disk: ${status} ${text}`);
    await expectNothing(service);
  } finally {
    await service.stop();
    execFileSync('umount', [runtime], { stdio: 'pipe' });
    await service[Symbol.asyncDispose]();
  }
};

/** Writes until there is no room. */
async function fill(path: string): Promise<void> {
  await using file = await open(path, 'w');
  const chunk = Buffer.alloc(64 * 1024);
  for (;;) {
    try {
      await file.write(chunk);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return;
      throw error;
    }
  }
}
