/**
 * Running as process 1 of a container.
 *
 * Orphans become children of process 1, which has to reap them. Node reaps only what it spawned itself and offers no
 * waitpid, so under Node every helper that a dead Chrome leaves stays in the process table as a zombie. What Node can do
 * is to put a real reaper in its own place: `process.execve` turns process 1 into one, which starts the service again as
 * its child. `docker run --init`, tini or `shareProcessNamespace` do the same from outside.
 */
import { existsSync } from 'node:fs';

/** Programs that are made for it, where a container has one. */
const INITS = ['/usr/bin/tini', '/sbin/tini', '/usr/bin/tini-static', '/usr/bin/dumb-init'];

/**
 * A shell does as well: its `wait` reaps whatever ends. It hands on the signals that end a service, each time one comes,
 * and ends with the code of the service; the kernel then kills what is left in the container. `wait` comes back early
 * when a signal arrives, and says 127 for a child that it has told about before.
 */
const SHELL_INIT = `
"$@" <&0 & child=$!
signalled=
code=127
for signal in TERM INT HUP QUIT; do trap "signalled=1; kill -$signal $child" "$signal"; done
while :; do
  wait "$child"; now=$?
  [ "$now" -eq 127 ] && exit "$code"
  code=$now
  [ -z "$signalled" ] && exit "$code"
  signalled=
done
`;

/** True when this process has to reap orphans and, being Node, cannot. */
export function isProcessOne(): boolean {
  return process.platform === 'linux' && process.pid === 1;
}

/**
 * Call first thing in the service. As process 1 it starts over as the child of a reaper, and does not return. Otherwise
 * it returns whether the service may go on as it is: `unavailable` when it is process 1 and the container has neither an
 * init nor a shell. Orphans are then reported as zombies, in receipts and by the doctor.
 * @param argv the argument vector of the process, to start over with
 */
export function leaveProcessOne(argv: readonly string[]): 'not needed' | 'unavailable' {
  if (!isProcessOne()) return 'not needed';
  if (process.execve === undefined) return 'unavailable';
  const service = [process.execPath, ...process.execArgv, ...argv.slice(1)];
  const init = INITS.find((path) => existsSync(path));
  if (init !== undefined) process.execve(init, [init, '--', ...service], process.env);
  if (existsSync('/bin/sh'))
    process.execve('/bin/sh', ['sh', '-c', SHELL_INIT, 'sh', ...service], process.env);
  return 'unavailable';
}
