/**
 * A service in its own process, cut down to what the residual law is about: it takes the runtime directory, makes
 * workspaces, and says so on one line of JSON. Arguments: runtime directory, then one session id per workspace.
 */
import { RuntimeDir } from '../../../src/residual/runtime-dir.ts';
import { Workspace } from '../../../src/residual/workspace.ts';

const [path, ...sessions] = process.argv.slice(2);
const directory = await RuntimeDir.open(path);
const workspaces: string[] = [];
for (const session of sessions) workspaces.push((await Workspace.create(directory, session)).path);
console.log(JSON.stringify({ instance: directory.instance, path: directory.path, workspaces }));
setInterval(() => undefined, 1000);
