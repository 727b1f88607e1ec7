import { once } from 'node:events';
import { chmod, lstat, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ConfigError, type Settings } from './config.ts';
import { messageOf } from './errors.ts';
import type { SelfRegistry } from './policy/self.ts';

export interface Listening extends AsyncDisposable {
  /** As a client on this machine reaches the service. */
  readonly baseUrl: string;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Listens where the settings say, and puts the port among those that no session may reach.
 * @throws ConfigError the address cannot be had
 */
export async function listen(
  app: FastifyInstance,
  settings: Settings,
  self: SelfRegistry,
): Promise<Listening> {
  const { host, port, socket } = settings;
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new ConfigError(`Cannot listen on ${host}:${port}: ${describe(error)}`);
  }
  const address = app.server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  self.add(bound);
  const extra = socket === undefined ? undefined : await listenOnSocket(app, socket);
  const shown =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : isIPv6(host) ? `[${host}]` : host;
  return {
    baseUrl: `http://${shown}:${bound}`,
    async [Symbol.asyncDispose]() {
      self.remove(bound);
      await extra?.();
    },
  };
}

/** A second way in: a Unix socket with mode 0600, whose permissions are the authentication. */
async function listenOnSocket(app: FastifyInstance, path: string): Promise<() => Promise<void>> {
  const found = await lstat(path).catch(() => undefined);
  if (found && !found.isSocket()) throw new ConfigError(`--socket ${path} exists and is not a socket`);
  await rm(path, { force: true });
  const server = createServer((request, response) => app.routing(request, response));
  const umask = process.umask(0o177);
  try {
    server.listen(path);
    await once(server, 'listening');
  } catch (error) {
    throw new ConfigError(`Cannot listen on --socket ${path}: ${describe(error)}`);
  } finally {
    process.umask(umask);
  }
  await chmod(path, 0o600);
  return async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
}

function describe(error: unknown): string {
  if (error instanceof Error && 'code' in error) {
    if (error.code === 'EADDRINUSE')
      return 'the address is in use; choose another with --port (0 = any free)';
    if (error.code === 'EACCES') return 'not permitted; ports below 1024 need privileges';
    if (error.code === 'EADDRNOTAVAIL') return 'this machine does not have that address';
  }
  return messageOf(error);
}
