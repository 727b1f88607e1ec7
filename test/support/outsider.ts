/** Another process that connects to a port, sends bytes, and says what came back. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const program = `
const [host, port, hex] = process.argv.slice(1);
const socket = require('node:net').connect(Number(port), host);
let received = '';
socket.on('connect', () => socket.write(Buffer.from(hex, 'hex')));
socket.on('data', (chunk) => { received += chunk.toString('hex'); if (received.length >= 24) socket.end(); });
socket.on('error', () => socket.destroy());
socket.on('close', () => process.stdout.write(received + '.'));
`;

/**
 * Runs it to its end.
 * @param onStart told its pid before it connects
 * @returns the bytes that it received, at least twelve unless it was cut off
 */
export async function connectFromOutside(
  end: { readonly address: string; readonly port: number },
  bytes: Uint8Array,
  onStart: (pid: number) => void = () => undefined,
): Promise<Buffer> {
  const hex = Buffer.from(bytes).toString('hex');
  const child = spawn(process.execPath, ['-e', program, '--', end.address, String(end.port), hex], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.pid !== undefined) onStart(child.pid);
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (!output.endsWith('.')) throw new Error('the outsider did not come to its end');
  return Buffer.from(output.slice(0, -1), 'hex');
}
