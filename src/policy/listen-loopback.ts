/**
 * Where a floor listens: on an address of loopback that nothing else has, and on a port that no other program is likely to
 * come by. The port number is refused on all addresses of this machine (`self`), so it must not be that of a server which
 * the operator has opened, nor become that of one which asks for any free port.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

/** Above what servers are usually given by hand, and below Linux's usual range for any port (ip(7)). */
const LOWEST = 20_000;
const HIGHEST = 32_767;
/** Fewer than this are not worth choosing from. */
const ENOUGH = 1000;
const TRIES = 20;

/**
 * @param address `undefined` for a random alias of 127/8, so that even a Chrome context without a proxy could not find
 * 127.0.0.1 there; 127.0.0.1 where the system has no aliases
 * @returns the address that `server` listens on
 * @throws Error the system's own
 */
export async function listenOnLoopback(server: Server, address: string | undefined): Promise<string> {
  if (address !== undefined) return await listen(server, address);
  if (process.platform !== 'linux') return await listen(server, '127.0.0.1');
  const alias = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
  try {
    return await listen(server, alias);
  } catch {
    // A system whose loopback is not a whole /8.
    return await listen(server, '127.0.0.1');
  }
}

async function listen(server: Server, host: string): Promise<string> {
  const highest = Math.min(HIGHEST, firstOfAny() - 1);
  const tries = highest - LOWEST < ENOUGH ? 0 : TRIES;
  for (let tried = 0; tried < tries; tried += 1) {
    const port = randomInt(LOWEST, highest + 1);
    if (!(await isUnused(port))) continue;
    try {
      return await listenAt(server, host, port);
    } catch (error) {
      // Somebody was quicker.
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
  return await listenAt(server, host, 0);
}

async function listenAt(server: Server, host: string, port: number): Promise<string> {
  server.listen({ host, port, backlog: 511, exclusive: true });
  await once(server, 'listening');
  return host;
}

/** Nobody listens there, on any address: a listener on all addresses is refused where there is one on any. */
async function isUnused(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen({ host: '0.0.0.0', port, exclusive: true });
    await once(probe, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
}

/** The lowest port that the system gives to who asks for any. */
function firstOfAny(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
  } catch {
    return HIGHEST + 1;
  }
}
