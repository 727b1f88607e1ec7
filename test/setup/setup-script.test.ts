import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const script = join(import.meta.dirname, '../../scripts/setup.sh');
const debian = existsSync('/etc/debian_version');
let dir: string;

/** A checkout in which all is there, with programs that write down how they were called in place of the real ones. */
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'setup-'));
  mkdirSync(join(dir, 'scripts'));
  copyFileSync(script, join(dir, 'scripts/setup.sh'));
  put('package.json', '{}');
  put('package-lock.json', '{}');
  put('node_modules/.package-lock.json', '{}');
  program('node_modules/.bin/node', nodeStub);
  program('node_modules/.bin/vitest', '');
  program('node_modules/.bin/browsers', 'exit 1');
  put('found', 'headless-shell\tpath\t/bin/sh\nchrome\tpath\t/bin/sh\n');
  program('bin/npm', 'exit 0');
  program('bin/apt-get', 'exit 1');
  program('bin/apt-cache', 'exit 1');
  program('bin/ip', 'exit 1');
  program('bin/id', 'echo 1000');
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** Answers for `node -p` and for scripts/find-chrome.ts. */
const nodeStub =
  'case $1 in -p) echo 26 ;; scripts/*) cat "$ROOT/found" 2>/dev/null ;; *) echo v26.0.0 ;; esac';

function put(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

function program(path: string, body: string): void {
  put(path, `#!/bin/sh\nROOT=${dir}\necho "\${0##*/} $*" >> "$ROOT/calls"\n${body}\n`);
  chmodSync(join(dir, path), 0o755);
}

function run(...args: string[]): { code: number | null; out: string; err: string; calls: string[] } {
  rmSync(join(dir, 'calls'), { force: true });
  const result = spawnSync('/bin/sh', [join(dir, 'scripts/setup.sh'), ...args], {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: `${join(dir, 'bin')}:/usr/bin:/bin`, HOME: join(dir, 'home') },
  });
  const calls = existsSync(join(dir, 'calls'))
    ? readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n')
    : [];
  return {
    code: result.status,
    out: result.stdout,
    err: result.stderr,
    calls: calls.filter((call) => !call.startsWith('node ') && !call.startsWith('id ')),
  };
}

const done = { code: 0, out: '', err: '', calls: [] };
const shells = ['/bin/sh', '/bin/dash', '/bin/bash', '/bin/busybox'].filter((shell) => existsSync(shell));

test.each(shells)('%s parses it', (shell) => {
  const args = shell.endsWith('busybox') ? ['sh', '-n', script] : ['-n', script];
  expect(spawnSync(shell, args, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});

test('where all is there it says nothing, calls nothing and ends well, in every mode', () => {
  program('bin/chromedriver', '');
  for (const mode of ['start', '--test', '--bench']) expect(run(mode)).toEqual(done);
  expect(run()).toEqual(done);
});

test('an unknown option is refused', () => {
  expect(run('--nonsense')).toMatchObject({ code: 2, calls: [] });
});

describe('npm dependencies', () => {
  test('missing: npm ci runs once, and the next run does nothing', () => {
    rmSync(join(dir, 'node_modules/.package-lock.json'));
    program('bin/npm', 'echo "{}" > "$ROOT/node_modules/.package-lock.json"');
    const first = run();
    expect(first.code).toBe(0);
    expect(first.calls).toEqual(['npm ci --no-audit --no-fund --loglevel=error']);
    expect(first.out).toContain('installing the npm dependencies');
    expect(run()).toEqual(done);
  });

  test('older than the lock file: npm ci runs, with the test tools for --test', () => {
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(dir, 'package-lock.json'), later, later);
    expect(run('--test').calls).toEqual(['npm ci --no-audit --no-fund --loglevel=error --include=dev']);
  });

  test('a lock file that was only touched by git is current by its content', () => {
    expect(run()).toEqual(done);
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(dir, 'package-lock.json'), later, later);
    expect(run()).toEqual(done);
    writeFileSync(join(dir, 'package-lock.json'), '{"changed":true}');
    utimesSync(join(dir, 'package-lock.json'), later, later);
    expect(run().calls).toHaveLength(1);
  });

  test('without the test tools, --test installs them and a start does not', () => {
    rmSync(join(dir, 'node_modules/.bin/vitest'));
    expect(run()).toEqual(done);
    expect(run('--test').calls[0]).toContain('--include=dev');
  });

  test('npm fails: it stops with the command to run', () => {
    rmSync(join(dir, 'node_modules/.package-lock.json'));
    program('bin/npm', 'exit 1');
    const result = run();
    expect(result.code).toBe(1);
    expect(result.err).toContain('npm ci');
  });
});

describe('Node', () => {
  const oldNode = 'case $1 in -p) echo 20 ;; *) echo v20.0.0 ;; esac';

  test('npm ci left its install script out: npm rebuild mends it', () => {
    rmSync(join(dir, 'node_modules/.bin/node'));
    program('bin/node', oldNode);
    put('new-node', `#!/bin/sh\nROOT=${dir}\n${nodeStub}\n`);
    program(
      'bin/npm',
      'cp "$ROOT/new-node" "$ROOT/node_modules/.bin/node"; chmod +x "$ROOT/node_modules/.bin/node"',
    );
    const result = run();
    expect(result.calls).toEqual(['npm rebuild node --ignore-scripts=false --loglevel=error']);
    expect(result).toMatchObject({ code: 0, err: '' });
  });

  test.skipIf(!debian)('its shared library is missing: apt brings it to root, and others are told', () => {
    program('node_modules/.bin/node', `[ -f "$ROOT/libatomic" ] || exit 127\n${nodeStub}`);
    program('bin/ldd', 'echo "libatomic.so.1 => not found"');
    const told = run();
    expect(told.code).toBe(1);
    expect(told.err).toContain('sudo apt-get install -y libatomic1');
    program('bin/id', 'echo 0');
    program('bin/apt-get', 'case $* in *libatomic1*) touch "$ROOT/libatomic" ;; esac');
    const result = run();
    expect(result).toMatchObject({ code: 0, err: '' });
    expect(result.calls.filter((call) => call.startsWith('apt-get')).at(-1)).toMatch(/install .*libatomic1$/);
  });

  test('none to be had: it stops and says which is needed', () => {
    for (const path of ['node_modules/.bin/node', 'bin/node']) program(path, oldNode);
    const result = run();
    expect(result.code).toBe(1);
    expect(result.err).toContain('Node 24 or newer is needed');
    expect(result.err).toContain('v20.0.0');
  });
});

describe('Chrome', () => {
  test.skipIf(!debian)('as root on Debian it comes from apt, with fonts, and nobody is asked', () => {
    rmSync(join(dir, 'found'));
    program('bin/id', 'echo 0');
    program('bin/apt-cache', 'exit 0');
    program(
      'bin/apt-get',
      'case $* in *install*) printf "headless-shell\\tpath\\t/bin/sh\\n" > "$ROOT/found" ;; esac',
    );
    const { code, calls } = run();
    expect(code).toBe(0);
    const [update, , install] = calls;
    expect(update).toMatch(/^apt-get .*update$/);
    expect(install).toMatch(
      /install -y .*chromium-headless-shell chromium fonts-liberation fonts-noto-color-emoji$/,
    );
  });

  test('elsewhere it comes from @puppeteer/browsers, into the cache that the search knows', () => {
    rmSync(join(dir, 'found'));
    program(
      'node_modules/.bin/browsers',
      'printf "headless-shell\\tpuppeteer-cache\\t/bin/sh\\n" > "$ROOT/found"',
    );
    const { code, calls } = run();
    expect(code).toBe(0);
    const cache = join(dir, 'home/.cache/puppeteer');
    expect(calls).toEqual([`browsers install chrome-headless-shell@stable --path ${cache}`]);
  });

  test.skipIf(!debian)(
    'where apt has none, as on Ubuntu, @puppeteer/browsers brings its libraries too',
    () => {
      rmSync(join(dir, 'found'));
      program('bin/id', 'echo 0');
      program('bin/apt-get', 'exit 0');
      program(
        'node_modules/.bin/browsers',
        'printf "headless-shell\\tpuppeteer-cache\\t/bin/sh\\n" > "$ROOT/found"',
      );
      const { code, calls } = run();
      expect(code).toBe(0);
      expect(calls.at(-1)).toContain('--install-deps');
    },
  );

  test('where nothing works it stops with a command that can be pasted', () => {
    rmSync(join(dir, 'found'));
    const result = run();
    expect(result.code).toBe(1);
    expect(result.err).toMatch(/no Chrome could be installed.*:\n {4}\S.*(chromium|chrome-headless-shell)/);
  });

  test('one engine is enough to start; for the tests the other is tried for, and its lack is said', () => {
    put('found', 'chrome\tpath\t/bin/sh\n');
    expect(run()).toEqual(done);
    const result = run('--test');
    expect(result.code).toBe(0);
    expect(result.out).toContain('only one of the two engines');
  });
});
