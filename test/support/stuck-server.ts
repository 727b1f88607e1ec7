/** A listener that is there but does not answer any more: its queue is full and nobody takes from it. Linux. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Listens, says so, and then blocks its only thread. */
const program = `
const { createServer } = require('node:net');
createServer().listen({ host: process.argv[1], port: Number(process.argv[2]), backlog: 1 }, () => {
  require('node:fs').writeSync(1, 'ready');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
`;

/** Linux completes one connection more than the queue is long, and then lets every SYN pass unanswered. */
const queued = 2;

export async function stuckServer(host: string, port: number): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, ['-e', program, '--', host, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited]);
  const fillers: Socket[] = [];
  for (let i = 0; i < queued; i++) {
    const socket = connect(port, host);
    socket.on('error', () => socket.destroy());
    fillers.push(socket);
    await once(socket, 'connect');
  }
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of fillers) socket.destroy();
      child.kill('SIGKILL');
      await exited;
    },
  };
}
