/** A SOCKS5 listener that writes down what it is asked for and refuses it. */
import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SocksRecorder {
  readonly address: string;
  readonly port: number;
  /** `host:port` of every CONNECT, in order. */
  readonly asked: string[];
  /** Resolves when `wanted` was asked for. */
  readonly seen: (wanted: string) => Promise<void>;
}

export async function recordSocks(address = '127.0.0.1'): Promise<SocksRecorder> {
  const asked: string[] = [];
  const waiting = new Map<string, () => void>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let greeted = false;
    socket.on('data', (data: Buffer) => {
      if (!greeted) {
        greeted = true;
        socket.write(Buffer.from([5, 0]));
        return;
      }
      // CONNECT with a name (type 3), the only form that Chrome sends.
      const length = data[4] ?? 0;
      const target = `${data.toString('latin1', 5, 5 + length)}:${data.readUInt16BE(5 + length)}`;
      asked.push(target);
      waiting.get(target)?.();
      socket.end(Buffer.from([5, 2, 0, 1, 0, 0, 0, 0, 0, 0]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  const seen = (wanted: string): Promise<void> =>
    asked.includes(wanted) ? Promise.resolve() : new Promise((resolve) => waiting.set(wanted, resolve));
  return { address, port: bound.port, asked, seen };
}
