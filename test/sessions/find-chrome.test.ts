import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AirlockError } from '../../src/errors.ts';
import { findAll, findChrome, type SearchHost } from '../../src/sessions/find-chrome.ts';

let root: string;
const elf = Buffer.from('7f454c46020101', 'hex');
const machO = Buffer.from('cffaedfe0c000001', 'hex');

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'find-chrome-')));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** A machine with nothing on it but what the test puts under `root`. */
function host(overrides: Partial<SearchHost> = {}): SearchHost {
  return {
    platform: 'linux',
    env: { PATH: join(root, 'usr/bin') },
    home: join(root, 'home'),
    root,
    ...overrides,
  };
}

function put(path: string, content: Buffer | string = elf, mode = 0o755): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
  chmodSync(full, mode);
  return full;
}

function link(path: string, target: string): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  symlinkSync(target, full);
  return full;
}

/** The part of Debian's launch script that says what it runs. */
const debianScript = `#!/bin/sh
# exec /usr/lib/chromium/chromium-headless-shell
APPNAME=chromium
GDB=/usr/bin/gdb
LIBDIR=/usr/lib/$APPNAME
CHROMIUM_FLAGS=""
for file in /etc/chromium.d/*; do . $file; done
  $GDB "$LIBDIR/$APPNAME" -x $tmpfile
    exec $LIBDIR/$APPNAME $CHROMIUM_FLAGS "$@"
`;

describe('launch scripts', () => {
  test("Debian's chromium script resolves to the binary it runs, not to gdb and not to itself", () => {
    put('usr/bin/chromium', debianScript);
    put('usr/bin/gdb');
    const real = put('usr/lib/chromium/chromium');
    expect(findAll(undefined, host())).toEqual([{ path: real, engine: 'chrome', source: 'path' }]);
  });

  test("Debian's headless-shell script without exec resolves to the binary", () => {
    put(
      'usr/bin/chromium-headless-shell',
      '#!/bin/sh -e\n\n/usr/lib/chromium/chromium-headless-shell "$@"\n',
    );
    const real = put('usr/lib/chromium/chromium-headless-shell');
    expect(findChrome({}, host())).toEqual({ path: real, engine: 'headless-shell', source: 'path' });
  });

  test("Google Chrome's link to a script with a binary beside it", () => {
    put(
      'opt/google/chrome/google-chrome',
      '#!/bin/bash\nHERE="`dirname "$0"`"\nexec -a "$0" "$HERE/chrome" "$@"\n',
    );
    link('usr/bin/google-chrome-stable', join(root, 'opt/google/chrome/google-chrome'));
    const real = put('opt/google/chrome/chrome');
    expect(findAll(undefined, host())).toEqual([{ path: real, engine: 'chrome', source: 'path' }]);
  });

  test('a configured launch script is resolved as well', () => {
    const script = put('usr/bin/chromium', debianScript);
    const real = put('usr/lib/chromium/chromium');
    expect(findChrome({ configured: script }, host())?.path).toBe(real);
  });

  test('a script that leads to itself, or to no binary, is not found', () => {
    put('usr/bin/chromium', '#!/bin/sh\nexec /usr/bin/chromium "$@"\n');
    put('usr/bin/google-chrome', '#!/bin/sh\nexec /usr/bin/env something\n');
    put('usr/bin/env');
    expect(findAll(undefined, host())).toEqual([]);
  });

  test('a snap, whose link resolves to the snap program, is not a Chrome', () => {
    put('usr/bin/snap');
    link('usr/bin/chromium', join(root, 'usr/bin/snap'));
    expect(findAll(undefined, host())).toEqual([]);
  });
});

describe('order', () => {
  test('config, shell, chrome, Puppeteer cache, Playwright cache', () => {
    const configured = put('own/chrome');
    const shell = put('usr/lib/chromium/chromium-headless-shell');
    const inPath = put('usr/bin/chromium');
    const known = put('opt/google/chrome/chrome');
    const cache = 'home/.cache';
    const puppeteerShell = put(
      `${cache}/puppeteer/chrome-headless-shell/linux-156.0.1.2/chrome-headless-shell-linux64/chrome-headless-shell`,
    );
    const playwrightShell = put(
      `${cache}/ms-playwright/chromium_headless_shell-1234/chrome-headless-shell-linux64/chrome-headless-shell`,
    );
    const puppeteerChrome = put(`${cache}/puppeteer/chrome/linux-156.0.1.2/chrome-linux64/chrome`);
    const playwrightChrome = put(`${cache}/ms-playwright/chromium-1234/chrome-linux/chrome`);
    expect(findAll(configured, host()).map(({ path, source }) => [path, source])).toEqual([
      [configured, 'config'],
      [shell, 'known-place'],
      [inPath, 'path'],
      [known, 'known-place'],
      [puppeteerShell, 'puppeteer-cache'],
      [playwrightShell, 'playwright-cache'],
      [puppeteerChrome, 'puppeteer-cache'],
      [playwrightChrome, 'playwright-cache'],
    ]);
  });

  test('the newest version of a cache comes first, by number', () => {
    put('home/.cache/puppeteer/chrome/linux-99.0.1/chrome-linux64/chrome');
    const newest = put('home/.cache/puppeteer/chrome/linux-156.0.1/chrome-linux64/chrome');
    put('home/.cache/puppeteer/chrome/linux-100.0.1/chrome-linux64/chrome');
    expect(findChrome({ engine: 'chrome' }, host())?.path).toBe(newest);
  });

  test('one binary that several names lead to is listed once', () => {
    const real = put('usr/lib/chromium/chromium');
    link('usr/bin/chromium', real);
    link('usr/bin/chromium-browser', real);
    expect(findAll(undefined, host())).toHaveLength(1);
  });
});

describe('engine', () => {
  test('the wanted engine is never answered with the other', () => {
    put('usr/bin/chromium');
    expect(findChrome({ engine: 'headless-shell' }, host())).toBeUndefined();
    expect(findChrome({ engine: 'chrome' }, host())?.engine).toBe('chrome');
  });

  test('a configured shell does not answer for chrome, and chrome is still found', () => {
    const shell = put('own/chrome-headless-shell');
    const chrome = put('usr/bin/chromium');
    expect(findChrome({ configured: shell, engine: 'chrome' }, host())?.path).toBe(chrome);
    expect(findChrome({ configured: shell, engine: 'headless-shell' }, host())?.source).toBe('config');
  });
});

describe('what cannot be run', () => {
  test('a configured path that is no Chrome is an error that names it, though another Chrome is there', () => {
    put('usr/bin/chromium');
    const notExecutable = put('own/chrome', elf, 0o644);
    for (const configured of [join(root, 'absent'), notExecutable, root, put('own/text', 'hello')]) {
      const search = () => findChrome({ configured }, host());
      expect(search).toThrow(AirlockError);
      expect(search).toThrow(configured);
    }
  });

  test('a dangling link, a directory and an empty file are passed over', () => {
    link('usr/bin/chromium', join(root, 'gone'));
    mkdirSync(join(root, 'usr/bin/google-chrome'), { recursive: true });
    put('usr/bin/chrome', '');
    expect(findAll(undefined, host())).toEqual([]);
  });

  test('a relative entry of PATH is not searched', () => {
    expect(findAll(undefined, host({ env: { PATH: '.:relative' } }))).toEqual([]);
  });
});

test('macOS: applications of the machine, of the user, and the caches there', () => {
  const system = put('Applications/Google Chrome.app/Contents/MacOS/Google Chrome', machO);
  const own = put('home/Applications/Chromium.app/Contents/MacOS/Chromium', machO);
  const shell = put(
    'home/.cache/puppeteer/chrome-headless-shell/mac_arm-156.0.1/chrome-headless-shell-mac-arm64/chrome-headless-shell',
    machO,
  );
  const testing = put(
    'home/Library/Caches/ms-playwright/chromium-1234/chrome-mac/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
    machO,
  );
  expect(findAll(undefined, host({ platform: 'darwin' })).map(({ path }) => path)).toEqual([
    system,
    own,
    shell,
    testing,
  ]);
});

test('the caches are looked for where their own variables say', () => {
  const puppeteer = put('p/chrome/linux-156.0.1/chrome-linux64/chrome');
  const playwright = put('w/chromium-1/chrome-linux64/chrome');
  const env = { PUPPETEER_CACHE_DIR: join(root, 'p'), PLAYWRIGHT_BROWSERS_PATH: join(root, 'w') };
  expect(findAll(undefined, host({ env })).map(({ path }) => path)).toEqual([puppeteer, playwright]);
});
