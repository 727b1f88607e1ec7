/** The two ends of an IPv4 connection, by which the kernel names the socket of either side. */

import { isIP } from 'node:net';

/** The four coordinates of an accepted connection, as `net.Socket` names them. */
export interface AcceptedEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

export interface SocketEnd {
  /** Four bytes, in the order in which they are written. */
  readonly address: readonly number[];
  readonly port: number;
}

/** As the socket itself has them: `local` is its own end. */
export interface SocketEnds {
  readonly local: SocketEnd;
  readonly remote: SocketEnd;
}

/** The peer's socket of an accepted connection: its local end is our remote one. Undefined when that is not IPv4. */
export function peerOf(ends: AcceptedEnds): SocketEnds | undefined {
  const local = endOf(ends.remoteAddress, ends.remotePort);
  const remote = endOf(ends.localAddress, ends.localPort);
  return local === undefined || remote === undefined ? undefined : { local, remote };
}

function endOf(address: string | undefined, port: number | undefined): SocketEnd | undefined {
  const plain = address?.replace(/^::ffff:/i, '');
  if (plain === undefined || port === undefined || isIP(plain) !== 4) return undefined;
  return { address: plain.split('.').map(Number), port };
}
