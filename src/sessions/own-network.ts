/**
 * A network namespace for one Chrome (Linux): it has loopback and nothing else, so that whatever becomes of Chrome's
 * flags, there is no way out but the floor.
 *
 * A socket belongs to the namespace in which it was made, whoever holds it. So no relay is needed: a shell that has
 * entered the new namespace has a short-lived Node open the floor's listener there and send it to the service, and only then
 * becomes Chrome, with the same pid.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import { Server } from 'node:net';
import { promisify } from 'node:util';
import { messageOf } from '../errors.ts';

/** Where the floor listens in the namespace. Everything is free there, so it is the address that it has outside. */
export interface NetworkPlace {
  readonly host: string;
  readonly port: number;
}

/** The channel to the service, behind Chrome's pipe on 3 and 4. */
const CHANNEL_FD = 5;

/** Loopback is down in a new namespace. Debian has perl wherever it has dpkg; iproute2 is not in its small images. */
const LOOPBACK_UP = `
(
  PATH=$PATH:/usr/sbin:/sbin
  ip link set dev lo up 2>/dev/null ||
    perl -e 'use Socket; socket(S, AF_INET, SOCK_DGRAM, 0) && ioctl(S, 0x8914, my $up = pack("a16 s x22", "lo", 0x49)) or exit 1' 2>/dev/null ||
    ifconfig lo up 2>/dev/null
) || { echo 'loopback cannot be switched on: neither ip (iproute2) nor perl nor ifconfig did it' >&2; exit 1; }
`;

/** Without its capabilities not even a Chrome of root can enter another namespace. */
const WITHOUT_POWERS = 'setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all --';

/**
 * Ends once the listener is on its way, in the channel, where it goes on listening. It does not wait until the listener was
 * taken: of a service that is killed before it says so, Node tells nothing (there is no `disconnect` while a handle is
 * unacknowledged), and this would stay for ever. Where the channel is closed, which it may be before this begins, it fails,
 * and no Chrome is started.
 */
const LISTEN = `
const sent = (error) => process.exit(error ? 1 : 0);
const server = require('node:net').createServer();
process.once('message', (at) => server.listen({ ...at, backlog: 511, exclusive: true }, () => process.send('open', server, sent)));
process.once('disconnect', () => process.exit(1));
if (!process.connected) process.exit(1);
`;

/** $1 is Node, $2 what it runs, the rest Chrome. */
const ENTER = `${LOOPBACK_UP}
"$1" -e "$2" || exit
shift 2
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
exec ${WITHOUT_POWERS} "$@" ${CHANNEL_FD}>&-
`;

/** Root needs no user namespace; others are in theirs what they are outside, and lose its powers before Chrome starts. */
function unshareArgs(): string[] {
  return process.getuid?.() === 0
    ? ['--net', '--']
    : ['--net', '--user', '--map-current-user', '--keep-caps', '--'];
}

/** The command that becomes `path` in a namespace of its own. Spawn it with a channel on descriptor 5. */
export function inOwnNetwork(path: string, args: readonly string[]): { path: string; args: string[] } {
  return {
    path: 'unshare',
    args: [...unshareArgs(), 'sh', '-c', ENTER, 'sh', process.execPath, LISTEN, path, ...args],
  };
}

/**
 * Has the listener opened in the namespace of `child` before Chrome starts there, and calls `adopt` with it. Without one, Chrome
 * does not pass the canary. What goes wrong ends `child`, with the reason on its standard error.
 */
export function fetchListener(
  child: ChildProcess,
  place: NetworkPlace,
  adopt: (listener: Server) => void,
): void {
  child.once('message', (_message, handle) => {
    if (handle instanceof Server) adopt(handle);
    if (child.connected) child.disconnect();
  });
  // A child that is gone already says so by its exit.
  child.send({ ...place }, () => undefined);
}

/** Why no namespace can be made here; undefined when one can. */
export async function whyNoOwnNetwork(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'only Linux has network namespaces';
  try {
    const probe = `${LOOPBACK_UP}\nexec ${WITHOUT_POWERS} true`;
    await promisify(execFile)('unshare', [...unshareArgs(), 'sh', '-c', probe], { timeout: 10_000 });
    return undefined;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    return said === '' ? messageOf(error) : said;
  }
}

/** Whether a process is in another network namespace than this one; false where the system cannot tell. */
export async function hasOwnNetwork(pid: number): Promise<boolean> {
  try {
    const [theirs, ours] = await Promise.all([
      readlink(`/proc/${pid}/ns/net`),
      readlink('/proc/self/ns/net'),
    ]);
    return theirs !== ours;
  } catch {
    return false; // not Linux, or it has ended
  }
}
