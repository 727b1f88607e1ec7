/**
 * From a path to the native program behind it: links are resolved and launch scripts are read (never run) for the
 * program that they start.
 */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What a Chrome binary may be called; a launch script that leads to anything else (gdb, snap, env) leads nowhere. */
const binaryName =
  /^(chrome|chromium|chromium-browser|chromium-headless-shell|chrome-headless-shell|headless_shell|Chromium|Google Chrome( for Testing)?)$/;

/** Debian's launch script, the longest known, has 5 KiB. */
const maxScriptBytes = 64 * 1024;

/** /usr/bin/google-chrome-stable leads to a script that leads to the binary: two hops, and one to spare. */
const maxHops = 3;

/**
 * The native binary that `path` leads to, as a real path; undefined when there is none that can be run.
 *
 * @param root put before the absolute paths that a script names; '' on a real machine
 */
export function nativeProgram(path: string, root = '', hops = maxHops): string | undefined {
  const real = executableFile(path);
  if (real === undefined) return undefined;
  const kind = kindOf(real);
  // A snap's link in PATH resolves to the snap program itself, which is native and is no Chrome.
  if (kind === 'native') return basename(real) === 'snap' ? undefined : real;
  if (kind !== 'script' || hops === 0) return undefined;
  for (const next of programsNamedIn(real)) {
    const place = next.startsWith('/') ? root + next : join(dirname(real), next);
    const program = binaryName.test(basename(place)) ? nativeProgram(place, root, hops - 1) : undefined;
    if (program !== undefined) return program;
  }
  return undefined;
}

function executableFile(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    accessSync(real, constants.X_OK);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    return undefined; // absent, a dangling link or not ours to run: all mean "not here"
  }
}

function kindOf(path: string): 'native' | 'script' | 'other' {
  const head = Buffer.alloc(4);
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return 'other'; // executable but not readable: what it is cannot be told
  }
  try {
    readSync(file, head, 0, 4, 0);
  } finally {
    closeSync(file);
  }
  if (head.toString('latin1', 0, 2) === '#!') return 'script';
  // ELF; Mach-O 64-bit little-endian; Mach-O universal.
  const magics = ['7f454c46', 'cffaedfe', 'cafebabe'];
  return magics.includes(head.toString('hex')) ? 'native' : 'other';
}

/**
 * The words of a shell script that may be the program it runs, in order: those on `exec` lines first, variables set by
 * plain assignments filled in, then `chrome` beside the script (where Google Chrome's own script has it).
 */
function programsNamedIn(script: string): string[] {
  if (statSync(script).size > maxScriptBytes) return [];
  const text = readFileSync(script, 'utf8');
  const variables = new Map<string, string>();
  for (const [, name, value] of text.matchAll(/^\s*(?:export\s+)?(\w+)=["']?([^\s"'`()]*)["']?\s*$/gm)) {
    if (name !== undefined && value !== undefined && !variables.has(name)) {
      variables.set(name, fillIn(value, variables));
    }
  }
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  const ordered = [...lines.filter((line) => /\bexec\b/.test(line)), ...lines];
  const words = ordered.flatMap((line) => fillIn(line, variables).split(/[\s"';|&]+/));
  return [...new Set([...words.filter((word) => /^\/[^$`*?]+$/.test(word)), 'chrome'])];
}

function fillIn(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole, braced?: string, plain?: string) => {
    return variables.get(braced ?? plain ?? '') ?? whole;
  });
}
