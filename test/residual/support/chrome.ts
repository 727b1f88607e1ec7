/** A real Chrome on a pipe, as bare as can be. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { Workspace } from '../../../src/residual/workspace.ts';
import { type Started, track } from './scratch.ts';

const candidates = {
  'headless-shell': ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium-headless-shell'],
  chrome: ['/usr/lib/chromium/chromium', '/usr/bin/chromium', '/usr/bin/google-chrome'],
};

export type Engine = keyof typeof candidates;

export function binary(engine: Engine): string {
  const found = [process.env['AIRLOCK_TEST_CHROME'] ?? '', ...candidates[engine]].find((path) =>
    existsSync(path),
  );
  if (found === undefined) throw new Error(`no ${engine} on this machine; set AIRLOCK_TEST_CHROME`);
  return found;
}

export const engines = ['headless-shell', 'chrome'] as const;

export interface Chrome extends Started {
  send(method: string, params?: object, sessionId?: string): Promise<Result>;
  closeBrowser: () => Promise<void>;
}

export interface LaunchOptions {
  engine?: Engine;
  profile?: string;
  cwd?: string;
  env?: Record<string, string>;
}

type Result = Record<string, unknown>;

interface Answer {
  id?: number;
  result?: Result;
}

/** Speaks CDP over fds 3 and 4: JSON, ended by NUL. */
function talk(
  input: Writable,
  output: Readable,
): (method: string, params?: object, sessionId?: string) => Promise<Result> {
  const waiting = new Map<number, (result: Result) => void>();
  let text = '';
  output.setEncoding('utf8');
  output.on('data', (part: string) => {
    const messages = (text + part).split('\0');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const answer: Answer = JSON.parse(message);
      waiting.get(answer.id ?? 0)?.(answer.result ?? {});
    }
  });
  for (const stream of [input, output]) stream.on('error', () => waiting.clear());
  let id = 0;
  return (method, params = {}, sessionId) =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
}

/** Waits for a page that runs script: by then zygotes, GPU and network processes and a renderer are there. */
async function openPage(send: Chrome['send']): Promise<void> {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  await send('Runtime.evaluate', { expression: '1' }, String(sessionId));
}

export async function launch(workspace: Workspace, options: LaunchOptions = {}): Promise<Chrome> {
  const engine = options.engine ?? 'headless-shell';
  const child = spawn(
    binary(engine),
    [
      '--no-sandbox',
      '--headless=new',
      '--no-first-run',
      '--remote-debugging-pipe',
      `--user-data-dir=${options.profile ?? workspace.profile}`,
      'about:blank',
    ],
    {
      detached: true,
      cwd: options.cwd ?? workspace.path,
      env: options.env ?? workspace.env(),
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
  const started = await track(child);
  const send = talk(child.stdio[3] as Writable, child.stdio[4] as Readable);
  await workspace.setChrome({ ...started.identity, pgid: started.identity.pid });
  await Promise.race([openPage(send), once(child, 'exit')]);
  if (child.exitCode !== null) throw new Error(`Chrome ended at once with ${child.exitCode}`);
  return {
    ...started,
    send,
    closeBrowser: async () => {
      await send('Browser.close');
    },
  };
}
