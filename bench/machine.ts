import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import packageJson from '../package.json' with { type: 'json' };

/** What a table of times is worth nothing without. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
  readonly chrome: string;
  readonly chromePath: string;
  readonly puppeteer: string;
  readonly playwright: string;
  readonly chromedriver: string;
}

export function machineFacts(chromePath: string, chromedriverPath: string | undefined): Machine {
  const cores = cpus();
  return {
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
    chrome: versionOf(chromePath),
    chromePath,
    puppeteer: packageJson.dependencies['puppeteer-core'],
    playwright: packageJson.devDependencies['playwright-core'],
    chromedriver: chromedriverPath === undefined ? 'not installed' : versionOf(chromedriverPath),
  };
}

/** The load of the last minute: over the number of cores, times are not to be believed. */
export function load(): number {
  return loadavg()[0] ?? 0;
}

/** The commit that is measured, with `+` when the tree is changed; empty outside a checkout. */
export function commit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
    const changed = git('status', '--porcelain', '--', 'src', 'bench/rows', 'package-lock.json') !== '';
    return git('rev-parse', '--short', 'HEAD') + (changed ? '+' : '');
  } catch {
    return ''; // no git, or no repository: the table then goes without
  }
}

/** `--version` of a browser or a driver, without what follows the number. */
function versionOf(path: string): string {
  const text = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
  return /\d+(\.\d+)+/.exec(text)?.[0] ?? text.trim();
}
