import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AirlockError } from '../errors.ts';

export interface AccessOptions {
  /** The bearer token; `undefined` where the transport itself authenticates (a Unix socket with mode 0600). */
  readonly token: string;
  /** Names besides `localhost` and IP addresses that the Host header may hold. */
  readonly hostNames: readonly string[];
}

/**
 * Refuses what a web page could send: a page must not drive the service by CSRF or by DNS rebinding.
 * @throws AirlockError `misdirected_host` (RFC 9110 421), `forbidden_origin`
 */
export function checkSender(request: FastifyRequest, options: AccessOptions): void {
  const host = request.headers.host;
  // HTTP/1.0 has no Host; no browser speaks it, but neither does any client that we know.
  if (host === undefined || !isKnownHost(host, options.hostNames)) {
    throw new AirlockError(
      'misdirected_host',
      `The Host header ${JSON.stringify(host ?? '')} is not this service`,
    );
  }
  const origin = request.headers.origin;
  if (origin !== undefined && origin !== `http://${host}`) {
    throw new AirlockError(
      'forbidden_origin',
      `Requests from the origin ${JSON.stringify(origin)} are refused`,
    );
  }
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new AirlockError('forbidden_origin', `Requests with Sec-Fetch-Site: ${String(site)} are refused`);
  }
}

/**
 * @param open what the route says of callers without a token: none, all, or those on this machine
 * @throws AirlockError `unauthorized`
 */
export function checkToken(
  request: FastifyRequest,
  options: AccessOptions,
  open?: boolean | 'loopback',
): void {
  if (open === true || isLocalSocket(request)) return;
  if (open === 'loopback' && isLoopback(request.socket.remoteAddress ?? '')) return;
  const match = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(request.headers.authorization ?? '');
  if (!match) throw new AirlockError('unauthorized', 'The request has no bearer token');
  if (!sameSecret(match[1] ?? '', options.token))
    throw new AirlockError('unauthorized', 'The token is wrong');
}

/**
 * A name only resolves to us by DNS, so a rebinding page always sends a name: IP literals and localhost are safe
 * whatever the port says (a container may publish another one).
 */
function isKnownHost(header: string, names: readonly string[]): boolean {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.exec(header);
  if (!match) return false;
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '').toLowerCase();
  return isIP(host) !== 0 || host === 'localhost' || names.some((name) => name.toLowerCase() === host);
}

/** True on a Unix socket: it has no peer address, and its file's mode is the authentication. */
function isLocalSocket(request: FastifyRequest): boolean {
  return request.socket.remoteAddress === undefined && request.socket.localPort === undefined;
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

/** In constant time, but for the length, which is no secret. */
function sameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
