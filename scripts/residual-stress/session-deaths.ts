/** Ways for a session to die while the service lives on. */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { treeOf } from '../../bench/memory.ts';
import { processesWith } from '../../test/support/processes.ts';
import { Residue, type Stage } from './stage.ts';

/** A way to die, checked by itself: it throws when something is left. */
export type Death = (stage: Stage) => Promise<void>;

export const sessionDeaths: Readonly<Record<string, Death>> = {
  'SIGKILL of Chrome': async (stage) => {
    const session = await stage.session();
    process.kill(await chromeOf(stage, session), 'SIGKILL');
    await stage.ended(session, 'crashed');
  },

  'DELETE while the page downloads': async (stage) => {
    const session = await stage.session();
    const expression = `setInterval(() => { const a = document.createElement('a');
      a.href = URL.createObjectURL(new Blob([new Uint8Array(1e5)])); a.download = 'f'; a.click(); }, 5), 1`;
    await stage.service.post(`${session}/eval`, { expression });
    await stage.close(session);
  },

  DELETE: async (stage) => stage.close(await stage.session()),

  ttl: async (stage) => stage.ended(await stage.session({ ttlSec: 1 }), 'ttl'),

  idle: async (stage) => stage.ended(await stage.session({ idleSec: 1 }), 'idle'),

  'hang-up during create': async (stage) => {
    // Another moment in every cycle: before the workspace, during the start of Chrome, after the proof of the floor.
    const signal = AbortSignal.timeout(1 + ((stage.cycle * 37) % 700));
    const created = await stage.service.post('/v1/sessions', {}, { signal }).catch(() => undefined);
    if (created !== undefined) await stage.close(`/v1/sessions/${created.body.id}`);
    await stage.expectNothingSoon();
  },

  'renderer crash': async (stage) => {
    const session = await stage.session();
    await killTree(stage, session, 'SIGSEGV', '--type=renderer');
    await stage.close(session);
  },

  'GPU crash': async (stage) => {
    const session = await stage.session();
    await killTree(stage, session, 'SIGSEGV', '--type=gpu-process');
    await stage.close(session);
  },

  'network service crash': async (stage) => {
    const session = await stage.session();
    await killTree(stage, session, 'SIGKILL', '--utility-sub-type=network');
    await stage.close(session);
  },

  'SIGSTOP of all of Chrome': async (stage) => {
    const session = await stage.session();
    await killTree(stage, session, 'SIGSTOP', '');
    await stage.close(session);
  },

  'read-only directory in the profile': async (stage) => {
    const session = await stage.session();
    const id = session.split('/').at(-1) ?? '';
    const runtime = join(stage.service.root, 'r');
    const name = (await readdir(runtime)).find((one) => one.endsWith(id));
    if (name === undefined) throw new Residue(`${session} has no workspace`);
    const locked = join(runtime, name, 'profile', 'locked');
    await mkdir(join(locked, 'inner'), { recursive: true });
    await writeFile(join(locked, 'inner', 'file'), 'x');
    await chmod(locked, 0o500);
    await stage.close(session);
  },

  'many closed at once': async (stage) => {
    const sessions: string[] = [];
    while (sessions.length < stage.options.many) {
      const room = Math.min(4, stage.options.many - sessions.length);
      sessions.push(...(await Promise.all(Array.from({ length: room }, () => stage.session()))));
    }
    const { body } = await stage.service.delete('/v1/sessions');
    const zero = body.receipts.filter((receipt: { zero: boolean }) => receipt.zero).length;
    if (zero !== sessions.length) throw new Residue(`${zero} of ${sessions.length} receipts say zero`);
    await stage.expectNothing();
  },
};

/** The process of a session's browser. */
async function chromeOf(stage: Stage, session: string): Promise<number> {
  const id = session.split('/').at(-1) ?? '';
  const found = (await processesWith(id)).find(({ ppid }) => ppid === stage.service.pid);
  if (found === undefined) throw new Residue(`${session} has no browser`);
  return found.pid;
}

/** Sends a signal to the processes of a session's browser whose command line holds `word`. */
async function killTree(stage: Stage, session: string, signal: NodeJS.Signals, word: string): Promise<void> {
  const tree = await treeOf(await chromeOf(stage, session));
  let sent = 0;
  for (const pid of tree) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
    if (command === undefined || !command.includes(word)) continue;
    process.kill(pid, signal);
    sent += 1;
  }
  if (sent === 0) throw new Residue(`${session} has no process with ${word}`);
}
