/** Real Chromes for tests: started in a directory of their own and gone, with it, when the test ends. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { chromeEnvironment } from '../../src/residual/environment.ts';
import { chromeFlags } from '../../src/sessions/chrome-flags.ts';
import { type Engine, findChrome } from '../../src/sessions/find-chrome.ts';
import { type LaunchedChrome, launchChrome, type OwnNetwork } from '../../src/sessions/launch-chrome.ts';

export const engines: readonly Engine[] = ['headless-shell', 'chrome'];

/** The binary of an engine on this machine; undefined when it is not installed, and then its tests are skipped. */
export function installed(engine: Engine): string | undefined {
  const path = findChrome({ engine })?.path;
  if (path === undefined) console.warn(`skipped: ${engine} is not installed; scripts/setup.sh installs it`);
  return path;
}

/** A directory for one Chrome, removed at the end of the test. */
export function chromeHome(): { profileDir: string; env: Record<string, string> } {
  const dir = mkdtempSync(join(tmpdir(), 'acr-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  const [home, tmp] = [join(dir, 'home'), join(dir, 'tmp')];
  for (const path of [home, tmp]) mkdirSync(path);
  return { profileDir: join(dir, 'profile'), env: chromeEnvironment({ home, tmp }) };
}

/** Starts the Chrome of an engine with the service's own flags, changed by `edit`, and ends it with the test. */
export async function startChrome(
  engine: Engine,
  path: string,
  floor: { address: string; port: number },
  edit: (flags: string[]) => string[] = (flags) => flags,
  ownNetwork?: OwnNetwork,
): Promise<LaunchedChrome> {
  const { profileDir, env } = chromeHome();
  const flags = chromeFlags({
    engine,
    profileDir,
    floorAddress: floor.address,
    floorPort: floor.port,
    noSandbox: process.getuid?.() === 0,
    headless: true,
  });
  const chrome = await launchChrome({
    path,
    args: edit(flags),
    env,
    cwd: env['HOME'] ?? tmpdir(),
    stderrLimit: 64 * 1024,
    ownNetwork,
  });
  onTestFinished(async () => {
    if (chrome.child.exitCode === null && chrome.child.signalCode === null)
      process.kill(-chrome.pid, 'SIGKILL');
    await chrome.exited;
  });
  return chrome;
}
