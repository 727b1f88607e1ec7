/** One accepted connection: whose it is, what it asks for, and the answer. What it may reach is the floor's business. */

import type { Socket } from 'node:net';
import { DeniedError } from './authorise.ts';
import { DialError, type DialFault } from './dial.ts';
import type { PeerCheck } from './peer.ts';
import { ResolveError } from './resolver.ts';
import {
  Socks5Handshake,
  type SocksReplyCode,
  type SocksStep,
  socksReply,
  socksReplyBytes,
} from './socks5.ts';
import { endWith, type Joinable, joinSockets } from './tunnel.ts';

export interface ConnectionServices {
  readonly peer: PeerCheck | undefined;
  readonly handshakeMs: number;
  readonly idleMs: number;
  /** Told of every well-formed CONNECT; true when it is the canary's, which is answered without being connected. */
  isCanary(host: string): boolean;
  /** Told of a request whose host cannot be read. */
  onBadHost(host: string): void;
  /** The one way to a connected socket. */
  open(host: string, port: number, signal: AbortSignal): Promise<Joinable>;
}

interface Request {
  readonly host: string;
  readonly port: number;
  readonly rest: Uint8Array;
}

/** Serves `client`, which was accepted paused, until its tunnel stands or it is refused. Never rejects. */
export async function serveConnection(client: Socket, services: ConnectionServices): Promise<void> {
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  const limit = setTimeout(() => client.destroy(), services.handshakeMs);
  limit.unref();
  const request = await admit(client, services);
  clearTimeout(limit);
  if (request === undefined || client.destroyed) return;
  if (services.isCanary(request.host)) {
    endWith(client, socksReplyBytes(socksReply.hostUnreachable));
    return;
  }
  try {
    const upstream = await services.open(request.host, request.port, gone.signal);
    if (client.destroyed) {
      upstream.socket.destroy();
      return;
    }
    if (request.rest.length > 0) upstream.socket.write(request.rest);
    client.write(socksReplyBytes(socksReply.granted));
    joinSockets(client, upstream, services.idleMs);
  } catch (error) {
    endWith(client, socksReplyBytes(replyFor(error)));
  }
}

/** The request of a peer that may make one; undefined when the connection has been dealt with. */
async function admit(client: Socket, services: ConnectionServices): Promise<Request | undefined> {
  if (services.peer !== undefined && (await services.peer.check(client)) === 'foreign') {
    client.destroy();
    return undefined;
  }
  const step = await readRequest(client);
  if (step?.kind === 'connect') return step;
  if (step?.kind === 'refuse') {
    if (step.host !== undefined) services.onBadHost(step.host);
    endWith(client, step.bytes);
  } else {
    // Not SOCKS5, or it left: not a byte is answered.
    client.destroy();
  }
  return undefined;
}

/** Reads until the handshake has an end; undefined when the peer ended first. The client is paused afterwards. */
function readRequest(client: Socket): Promise<SocksStep | undefined> {
  const handshake = new Socks5Handshake();
  const { promise, resolve } = Promise.withResolvers<SocksStep | undefined>();
  const stop = (step: SocksStep | undefined): void => {
    client.off('data', onData).off('end', onGone).off('close', onGone);
    client.pause();
    resolve(step);
  };
  const onGone = (): void => stop(undefined);
  const onData = (chunk: Buffer): void => {
    handshake.push(chunk);
    for (let step = handshake.next(); step.kind !== 'more'; step = handshake.next()) {
      if (step.kind !== 'send') {
        stop(step);
        return;
      }
      client.write(step.bytes);
    }
  };
  client.on('data', onData).on('end', onGone).on('close', onGone);
  if (client.destroyed) onGone();
  else client.resume();
  return promise;
}

const replyByDialFault: Readonly<Record<DialFault, SocksReplyCode>> = {
  refused: socksReply.refused,
  host_unreachable: socksReply.hostUnreachable,
  network_unreachable: socksReply.networkUnreachable,
  timeout: socksReply.hostUnreachable,
  cancelled: socksReply.hostUnreachable,
  wrong_peer: socksReply.notAllowed,
  failed: socksReply.failure,
};

/** Never 1 where something else fits: Chrome takes a general failure for a broken proxy. */
function replyFor(error: unknown): SocksReplyCode {
  if (error instanceof DeniedError) return socksReply.notAllowed;
  if (error instanceof ResolveError) return socksReply.hostUnreachable;
  if (error instanceof DialError) return replyByDialFault[error.fault];
  return socksReply.failure;
}
