/** A connection of this process to itself, for whoever asks whose it is. */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** `accepted` is the end that a check is about. */
export async function ownConnection(listen: string, dial: string) {
  const server = createServer();
  server.listen(0, listen);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  const accepting = once(server, 'connection');
  const client = connect({ port: address.port, host: dial });
  const [accepted]: Socket[] = await accepting;
  if (accepted === undefined) throw new Error('nothing was accepted');
  return {
    client,
    accepted,
    async [Symbol.asyncDispose](): Promise<void> {
      client.destroy();
      accepted.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
