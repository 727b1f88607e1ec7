/**
 * Where a Chrome is on this machine. The one list: the service, `scripts/setup.sh` and the tests all ask here.
 *
 * Only real binaries are returned. Distributions put launch scripts in PATH (Debian's /usr/bin/chromium adds flags,
 * exports API keys, sources /etc/chromium.d and honours $CHROMIUM_FLAGS), so a script is followed to the program that
 * it runs and is never run itself.
 */
import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { AirlockError } from '../errors.ts';
import { nativeProgram } from './native-program.ts';

export type Engine = 'headless-shell' | 'chrome';

export type ChromeSource = 'config' | 'path' | 'known-place' | 'puppeteer-cache' | 'playwright-cache';

export interface FoundChrome {
  /** Absolute path of the native binary, links and launch scripts resolved. */
  readonly path: string;
  readonly engine: Engine;
  readonly source: ChromeSource;
}

/** What the search looks at; tests give their own. */
export interface SearchHost {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Put before each known place: '' on a real machine. */
  readonly root: string;
}

interface Candidate {
  readonly path: string;
  readonly source: ChromeSource;
}

const pathNames: Readonly<Record<Engine, readonly string[]>> = {
  'headless-shell': ['chromium-headless-shell', 'chrome-headless-shell', 'headless_shell'],
  chrome: [
    'chromium',
    'chromium-browser',
    'google-chrome-stable',
    'google-chrome',
    'google-chrome-for-testing',
    'chrome',
  ],
};

const linuxPlaces: Readonly<Record<Engine, readonly string[]>> = {
  'headless-shell': [
    '/usr/lib/chromium/chromium-headless-shell', // Debian
    '/usr/lib/chromium/headless_shell', // older Debian
    '/usr/lib64/chromium-browser/headless_shell', // Fedora
    '/opt/chrome-headless-shell/chrome-headless-shell',
    '/opt/chrome-headless-shell-linux64/chrome-headless-shell', // the archive, unpacked
  ],
  chrome: [
    '/usr/lib/chromium/chromium', // Debian, Arch
    '/usr/lib64/chromium-browser/chromium-browser', // Fedora
    '/usr/lib/chromium/chrome', // Alpine
    '/opt/google/chrome/chrome',
    '/opt/chrome/chrome',
    '/opt/chrome-linux64/chrome',
  ],
};

const macPlaces: Readonly<Record<Engine, readonly string[]>> = {
  'headless-shell': [],
  chrome: ['Chromium', 'Google Chrome', 'Google Chrome for Testing'].map(
    (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
  ),
};

/** The machine that this process runs on. */
export function thisHost(): SearchHost {
  return { platform: process.platform, env: process.env, home: homedir(), root: '' };
}

/** The engine that a binary is, by its name: every build of the shell has "headless" in it. */
export function engineOf(path: string): Engine {
  return basename(path).toLowerCase().includes('headless') ? 'headless-shell' : 'chrome';
}

/**
 * The first Chrome of the wanted engine; without one, of any engine. The order: the configured path, headless-shell in
 * PATH and the known places, Chrome in PATH and the known places, then the caches of Puppeteer and Playwright, newest
 * version first. A configured path of the other engine does not answer for the wanted one. Reads the disk
 * synchronously (some milliseconds): call it at start, not per request.
 *
 * @throws AirlockError `browser_unavailable` when a path is configured and is not a Chrome that can be run: another
 * one in its place would not be what the operator asked for
 */
export function findChrome(
  options: { readonly configured?: string; readonly engine?: Engine },
  host: SearchHost = thisHost(),
): FoundChrome | undefined {
  return findAll(options.configured, host).find(
    (found) => options.engine === undefined || found.engine === options.engine,
  );
}

/**
 * Every Chrome on the machine, each once, in the order of `findChrome`.
 *
 * @throws AirlockError `browser_unavailable` as `findChrome` does
 */
export function findAll(configured?: string, host: SearchHost = thisHost()): FoundChrome[] {
  const found = new Map<string, FoundChrome>();
  if (configured !== undefined) {
    const path = nativeProgram(configured, host.root);
    if (path === undefined) {
      throw new AirlockError(
        'browser_unavailable',
        `${configured} is not a Chrome that can be run: no executable file there, or a script that leads to none`,
      );
    }
    found.set(path, { path, engine: engineOf(path), source: 'config' });
  }
  for (const { path: place, source } of candidates(host)) {
    const path = nativeProgram(place, host.root);
    if (path !== undefined && !found.has(path)) {
      found.set(path, { path, engine: engineOf(path), source });
    }
  }
  return [...found.values()];
}

function candidates(host: SearchHost): Candidate[] {
  const engines: readonly Engine[] = ['headless-shell', 'chrome'];
  const installed = engines.flatMap((engine) => [...inPath(host, engine), ...inKnownPlaces(host, engine)]);
  const cached = engines.flatMap((engine) => [
    ...inPuppeteerCache(host, engine),
    ...inPlaywrightCache(host, engine),
  ]);
  return [...installed, ...cached];
}

function inPath(host: SearchHost, engine: Engine): Candidate[] {
  // A relative entry means the working directory of whoever started us: not a place to run programs from.
  const directories = (host.env['PATH'] ?? '').split(':').filter((entry) => entry.startsWith('/'));
  return pathNames[engine].flatMap((name) =>
    directories.map((directory) => ({ path: join(directory, name), source: 'path' as const })),
  );
}

function inKnownPlaces(host: SearchHost, engine: Engine): Candidate[] {
  const places = host.platform === 'darwin' ? macPlaces[engine] : linuxPlaces[engine];
  const mine = host.platform === 'darwin' ? places.map((place) => join(host.home, place)) : [];
  return [...places.map((place) => host.root + place), ...mine].map((path) => ({
    path,
    source: 'known-place' as const,
  }));
}

/** `<cache>/<browser>/<platform>-<version>/<browser>-<platform>/<program>`, the layout of @puppeteer/browsers. */
function inPuppeteerCache(host: SearchHost, engine: Engine): Candidate[] {
  const cache = host.env['PUPPETEER_CACHE_DIR'] ?? join(host.home, '.cache/puppeteer');
  const browser = engine === 'chrome' ? 'chrome' : 'chrome-headless-shell';
  return newestFirst(join(cache, browser)).flatMap((build) =>
    newestFirst(build)
      .flatMap((directory) => programsIn(directory, engine))
      .map((path) => ({ path, source: 'puppeteer-cache' as const })),
  );
}

/** `<cache>/chromium-<revision>/chrome-<platform>/<program>`, the layout of Playwright. */
function inPlaywrightCache(host: SearchHost, engine: Engine): Candidate[] {
  const usual = host.platform === 'darwin' ? 'Library/Caches/ms-playwright' : '.cache/ms-playwright';
  const cache = host.env['PLAYWRIGHT_BROWSERS_PATH'] ?? join(host.home, usual);
  const prefix = engine === 'chrome' ? /^chromium-\d+$/ : /^chromium_headless_shell-\d+$/;
  return newestFirst(cache)
    .filter((build) => prefix.test(basename(build)))
    .flatMap((build) => newestFirst(build))
    .flatMap((directory) => programsIn(directory, engine))
    .map((path) => ({ path, source: 'playwright-cache' as const }));
}

function programsIn(directory: string, engine: Engine): string[] {
  const bundles = ['Google Chrome for Testing', 'Chromium'];
  const names =
    engine === 'headless-shell'
      ? ['chrome-headless-shell', 'headless_shell']
      : ['chrome', ...bundles.map((name) => `${name}.app/Contents/MacOS/${name}`)];
  return names.map((name) => join(directory, name));
}

/** The entries of a directory, version 10 before version 9; none where there is no directory to read. */
function newestFirst(directory: string): string[] {
  if (!isReadableDirectory(directory)) return [];
  return readdirSync(directory)
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((entry) => join(directory, entry));
}

function isReadableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    return statSync(realpathSync(path)).isDirectory();
  } catch {
    return false; // absent or closed to us: there is nothing in it for us
  }
}
