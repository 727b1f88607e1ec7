import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { chromeFlags, offFeatures } from '../../src/sessions/chrome-flags.ts';
import { operatorFlagNames } from '../../src/sessions/operator-flags.ts';
import { engines, installed } from '../support/real-chrome.ts';

/** The name of a switch of this list is only in the macOS binary. */
const macOnly = new Set(['use-mock-keychain']);

/**
 * True when the binary has the text as a whole string: a NUL behind it, and before it nothing of a longer name, except for
 * the `k` of a constant's own name, whose end the linker lets the shorter string share.
 */
function hasString(binary: Buffer, text: string): boolean {
  const ended = Buffer.from(`${text}\0`, 'latin1');
  for (let at = binary.indexOf(ended); at !== -1; at = binary.indexOf(ended, at + 1)) {
    if (!/[A-Za-jl-z0-9_-]/.test(String.fromCharCode(binary[at - 1] ?? 0))) return true;
  }
  return false;
}

function flagNames(flags: readonly string[]): string[] {
  return flags
    .map((flag) => flag.replace(/^--/, '').replace(/=.*/s, ''))
    .filter((name) => !macOnly.has(name));
}

/** The lists of features were made on this version. */
const measuredMajor = 156;

function majorOf(path: string): number {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', env: { HOME: '/nonexistent' } });
  return Number(/(\d+)\.\d+\.\d+/.exec(stdout)?.[1]);
}

const contents = new Map<string, Buffer>();

/** Some 300 MB each: read once. */
function contentOf(path: string): Buffer {
  const content = contents.get(path) ?? readFileSync(path);
  contents.set(path, content);
  return content;
}

const binaries = engines.map((engine) => ({ engine, path: installed(engine) }));

describe.for(binaries)('$engine', ({ engine, path }) => {
  test.skipIf(path === undefined)('has every switch that it is given', () => {
    if (path === undefined) return;
    const binary = contentOf(path);
    const base = { engine, profileDir: '/p', floorAddress: '127.0.0.1', floorPort: 1080 };
    const flags = chromeFlags({ ...base, noSandbox: true, headless: true, smallDevShm: true });
    expect(flagNames(flags).length).toBeGreaterThan(20);
    expect(flagNames(flags).filter((name) => !hasString(binary, name))).toEqual([]);
    // The search can say no.
    expect(hasString(binary, 'disable-gaia-services')).toBe(false);
  });

  test.skipIf(path === undefined)('has every feature that is switched off', ({ skip }) => {
    if (path === undefined) return;
    const major = majorOf(path);
    skip(
      major < measuredMajor,
      `Chrome ${major} is older than the one that the list was made for: some came later`,
    );
    const binary = contentOf(path);
    const has = (name: string) => hasString(binary, `k${name}`) || hasString(binary, name);
    expect(offFeatures(engine).filter((name) => !has(name))).toEqual([]);
    expect(has('PrivateNetworkAccessSendPreflights')).toBe(false);
  });
});

test.skipIf(binaries.some(({ path }) => path === undefined))(
  'each flag that an operator may add is in one of the engines',
  () => {
    const both = binaries.map(({ path }) => contentOf(path ?? ''));
    expect(operatorFlagNames.filter((name) => !both.some((binary) => hasString(binary, name)))).toEqual([]);
  },
);

test.skipIf(binaries.some(({ path }) => path === undefined))(
  'the spelling of the WebRTC policy that one engine reads is unknown to the other',
  () => {
    const [shell, full] = binaries.map(({ path }) => contentOf(path ?? ''));
    if (shell === undefined || full === undefined) return;
    const [long, short] = ['force-webrtc-ip-handling-policy', 'webrtc-ip-handling-policy'];
    expect([hasString(shell, long), hasString(shell, short)]).toEqual([true, false]);
    expect([hasString(full, long), hasString(full, short)]).toEqual([false, true]);
  },
);
