/**
 * Prints every Chrome on this machine, one a line: engine, source and path, tab-separated, best first. Exit code 1 when
 * there is none. `--engine headless-shell|chrome` prints that engine only. Used by scripts/setup.sh.
 */
import { parseArgs } from 'node:util';
import { findAll } from '../src/sessions/find-chrome.ts';

const { values } = parseArgs({ options: { engine: { type: 'string' } } });
const found = findAll().filter((chrome) => values.engine === undefined || chrome.engine === values.engine);
for (const chrome of found) console.log(`${chrome.engine}\t${chrome.source}\t${chrome.path}`);
process.exitCode = found.length === 0 ? 1 : 0;
