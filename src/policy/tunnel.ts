/** Two sockets joined: bytes both ways with back-pressure, half-open ends, broken ends and silence. */

import type { Socket } from 'node:net';
import type { BulkReader } from './bulk-reader.ts';

export interface Joinable {
  readonly socket: Socket;
  readonly bulk?: BulkReader;
}

/**
 * Joins a client with its upstream until both have ended. A side that ends is passed on as an end, and the other side
 * may go on; a side that breaks is passed on as a reset, so that a cut body never looks like a whole one.
 * @param idleMs both are reset after this long without a byte in either direction
 */
export function joinSockets(client: Socket, link: Joinable, idleMs: number): void {
  const upstream = link.socket;
  client.pipe(upstream);
  if (link.bulk === undefined) upstream.pipe(client);
  else link.bulk.pour(upstream, client);
  client.once('close', (broken) => {
    if (broken || !client.readableEnded) reset(upstream);
    // The client is done; what is left is to deliver its last bytes.
    else upstream.setTimeout(idleMs, () => reset(upstream));
  });
  upstream.once('close', (broken) => {
    // Ended in good order, the client may still be reading what is buffered for it.
    if (broken || !upstream.readableEnded) reset(client);
  });
  // Every byte of either direction passes through the client, so its clock is the clock of both.
  client.setTimeout(idleMs, () => {
    reset(client);
    reset(upstream);
  });
}

/**
 * Breaks a connection so that the peer sees it. One whose own end is still on its way can only be closed: libuv refuses
 * to reset it (EINVAL), and Node would then neither close the handle nor say `close`.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}

/** Sends the last bytes and closes; a peer that does not close its end within `lingerMs` is cut off. */
export function endWith(socket: Socket, bytes: Uint8Array, lingerMs = 1000): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(bytes);
  // Unread bytes at close would make the kernel send a reset, which can overtake the reply.
  socket.resume();
}
