/**
 * A service as process 1 of a pid namespace. Arguments: `stay` or `leave`, a runtime directory. It ends a session whose
 * Chrome leaves an orphan behind, prints its pid, the receipt and the report, and ends with 7 on SIGTERM.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { identify } from '../../../src/residual/identity.ts';
import { leaveProcessOne } from '../../../src/residual/init.ts';
import { reap } from '../../../src/residual/reap.ts';
import { residualReport } from '../../../src/residual/report.ts';
import { RuntimeDir } from '../../../src/residual/runtime-dir.ts';
import { Workspace } from '../../../src/residual/workspace.ts';

const [mode, path] = process.argv.slice(2);
if (mode === 'leave') leaveProcessOne(process.argv);

const directory = await RuntimeDir.open(path);
const workspace = await Workspace.create(directory, 'one');
const child = spawn('/bin/sh', ['-c', 'sleep 1000 & echo; exec sleep 1000'], {
  detached: true,
  stdio: ['ignore', 'pipe', 'inherit'],
});
await once(child.stdout, 'data');
const identity = await identify(child.pid ?? 0);
if (identity === undefined) throw new Error('it ended too soon');
const receipt = await reap({
  sessionId: 'one',
  reason: 'delete',
  workspace,
  chrome: { child, identity },
  closeFloor: async () => ({ connectionsClosed: 0 }),
});
const report = await residualReport(directory, {
  tempDir: directory.path,
  liveSessions: new Set(),
  minAgeSec: 60,
});
process.once('SIGTERM', () => process.exit(7));
console.log(JSON.stringify({ pid: process.pid, receipt, report }));
setInterval(() => undefined, 1000);
