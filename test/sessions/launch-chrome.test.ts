import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AirlockError } from '../../src/errors.ts';
import { type LaunchOptions, launchChrome } from '../../src/sessions/launch-chrome.ts';
import { chromeHome, engines, installed, startChrome } from '../support/real-chrome.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'launch-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** A program that stands where Chrome would, and does what the script says. */
function program(script: string): string {
  const path = join(dir, 'chrome');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

function launch(path: string, more: Partial<LaunchOptions> = {}) {
  return launchChrome({
    path,
    args: [],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    stderrLimit: 1_000,
    ...more,
  });
}

async function failure(launched: Promise<unknown>): Promise<AirlockError> {
  const error = await launched.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AirlockError)) throw new Error(`not an AirlockError: ${String(error)}`);
  expect(error.code).toBe('browser_unavailable');
  return error;
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

const answer = String.raw`printf '{"id":0,"result":{"product":"Test/1"}}\0' >&4`;

describe('a Chrome that does not start', () => {
  test('exits early: its standard error and exit code are in the problem', async () => {
    const error = await failure(launch(program('echo "cannot open display" >&2; exit 7')));
    expect(error.message).toContain('exited with code 7');
    expect(error.message).toContain('cannot open display');
    expect(error.extra).toEqual({ stderr: 'cannot open display' });
  });

  test('dies of a signal', async () => {
    expect((await failure(launch(program('kill -SEGV $$')))).message).toContain('was ended by SIGSEGV');
  });

  test('is absent, not executable or no program', async () => {
    const text = join(dir, 'text');
    writeFileSync(text, 'no program');
    for (const path of [join(dir, 'absent'), text, dir]) {
      expect((await failure(launch(path))).message).toContain(`${path} cannot be started`);
    }
  });

  test('never answers: it is killed with its group, and the problem has its standard error', async () => {
    const pids = join(dir, 'pids');
    const script = `sleep 600 & echo "$$ $!" > ${pids}; echo "waiting" >&2; wait`;
    const error = await failure(launch(program(script), { timeoutMs: 1_000 }));
    expect(error.message).toContain('did not answer within 1000 ms');
    expect(error.message).toContain('waiting');
    const [leader = 0, child = 0] = readFileSync(pids, 'utf8').trim().split(' ').map(Number);
    expect(isAlive(leader)).toBe(false);
    // The child's reaper is init, which may take a moment; a zombie has no command line.
    expect(isAlive(child) ? readFileSync(`/proc/${child}/cmdline`, 'utf8') : '').toBe('');
  });

  test('answers what Chrome would not', async () => {
    const error = await failure(launch(program(String.raw`printf 'hello\0' >&4; sleep 600`)));
    expect(error.message).toContain('does not answer as Chrome does: hello');
  });

  test('answers without end', async () => {
    const error = await failure(launch(program('exec cat /dev/urandom | tr -d "\\0" >&4')));
    expect(error.message).toContain('does not answer as Chrome does');
  });

  test('is cancelled: the reason is thrown and the process is gone', async () => {
    const pidFile = join(dir, 'pid');
    const controller = new AbortController();
    const reason = new Error('client went away');
    const path = program(`echo $$ > ${pidFile}; read -r line <&3; sleep 600`);
    const launched = launch(path, { signal: controller.signal });
    const rejected = expect(launched).rejects.toBe(reason);
    const pid = await vi.waitFor(
      () => Number.parseInt(readFileSync(pidFile, 'utf8'), 10) || Promise.reject(),
    );
    expect(isAlive(pid)).toBe(true);
    controller.abort(reason);
    await rejected;
    expect(isAlive(pid)).toBe(false);
    await expect(launch(path, { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('a Chrome that starts', () => {
  test('gets exactly the environment and descriptors it was given, and a process group of its own', async () => {
    const [facts, secret] = [join(dir, 'facts'), join(dir, 'secret')];
    const open = openSync(secret, 'w');
    const script = `env > ${facts}; ls -l /proc/self/fd >> ${facts}; ${answer}; read -r line <&3`;
    const chrome = await launch(program(script), { env: { PATH: '/usr/bin:/bin', ONLY: 'this' } });
    closeSync(open);
    const lines = readFileSync(facts, 'utf8').trim().split('\n');
    // PWD, OLDPWD, SHLVL and _ are of the shell itself.
    const own = ['PWD', 'OLDPWD', 'SHLVL', '_'];
    const names = lines
      .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])
      .filter((name) => !own.includes(name));
    expect(names.sort()).toEqual(['ONLY', 'PATH']);
    const descriptors = lines
      .filter((line) => line.includes(' -> '))
      .map((line) => line.replace(/^.* (\d+ ->)/, '$1'));
    expect(descriptors).toContain('0 -> /dev/null');
    for (const number of [3, 4]) expect(descriptors.join()).toMatch(new RegExp(`\\b${number} -> socket:`));
    expect(descriptors.join()).not.toContain(secret);
    const stat = readFileSync(`/proc/${chrome.pid}/stat`, 'utf8');
    const [, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    expect([group, session]).toEqual([String(chrome.pid), String(chrome.pid)]);
    chrome.pipeWrite.destroy();
    expect((await chrome.exited).signal).toBeNull();
  });

  test('arguments are not seen by a shell', async () => {
    const facts = join(dir, 'facts');
    const args = ['--a=$(id)', '; touch x', '"quoted"', ''];
    const path = program(`printf '<%s>' "$@" > ${facts}; ${answer}; read -r line <&3`);
    const chrome = await launch(path, { args });
    expect(readFileSync(facts, 'utf8')).toBe(args.map((arg) => `<${arg}>`).join(''));
    chrome.pipeWrite.destroy();
    await chrome.exited;
  });

  test('only the end of a long standard error is kept, and Chrome never waits for a reader', async () => {
    const script = `yes 0123456789 | head -c 3000000 >&2; echo "the end" >&2; ${answer}; read -r line <&3`;
    const chrome = await launch(program(script), { stderrLimit: 1_000 });
    chrome.pipeWrite.destroy();
    await new Promise((resolve) => chrome.child.once('close', resolve));
    expect(chrome.stderrTail()).toMatch(/the end\n$/);
    expect(Buffer.byteLength(chrome.stderrTail())).toBe(1_000);
  });
});

for (const engine of engines) {
  const path = installed(engine);
  const floor = { address: '127.0.0.1', port: 9 };

  test.skipIf(path === undefined)(
    `${engine}: answers with its product, and exits when its pipe closes`,
    async () => {
      if (path === undefined) return;
      const chrome = await startChrome(engine, path, floor);
      expect(chrome.product).toMatch(engine === 'chrome' ? /^Chrome\/\d+/ : /^HeadlessChrome\/\d+/);
      chrome.pipeWrite.destroy();
      chrome.pipeRead.destroy();
      expect((await chrome.exited).signal).toBeNull();
    },
  );

  test.skipIf(path === undefined || process.getuid?.() !== 0)(
    `${engine}: as root with its sandbox it refuses, and its own words are in the problem`,
    async () => {
      if (path === undefined) return;
      const { profileDir, env } = chromeHome();
      const args = ['--remote-debugging-pipe', `--user-data-dir=${profileDir}`, '--headless'];
      const error = await failure(launchChrome({ path, args, env, cwd: '/', stderrLimit: 10_000 }));
      expect(error.message).toContain('no-sandbox');
    },
  );
}
