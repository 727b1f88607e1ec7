import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from './find-chrome.ts';

/**
 * Full Chrome connects to where a tab is about to go before the request is made, and so before it can be intercepted,
 * for addresses too whose answer then comes from elsewhere. No switch turns that off (156); this preference does
 * (2: never). The shell does not do it.
 */
const NEVER_PREDICT = 2;

/** Puts what no flag can say into a profile that no Chrome uses yet. What it holds already is kept. */
export async function writePreferences(engine: Engine, profileDir: string): Promise<void> {
  if (engine !== 'chrome') return;
  const directory = join(profileDir, 'Default');
  const path = join(directory, 'Preferences');
  const preferences = await readPreferences(path);
  const net = isObject(preferences['net']) ? preferences['net'] : {};
  if (net['network_prediction_options'] === NEVER_PREDICT) return;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ ...preferences, net: { ...net, network_prediction_options: NEVER_PREDICT } });
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Chrome, too, begins anew where the file is not what it should be. */
async function readPreferences(path: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isObject(value) ? value : {};
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (missing || error instanceof SyntaxError) return {};
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
