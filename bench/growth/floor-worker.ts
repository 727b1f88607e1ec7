/** A floor in a thread of its own, for a client in the main thread of the same process: so the peer check has its part. */
import { parentPort, workerData } from 'node:worker_threads';
import { Floor } from '../../src/policy/floor.ts';
import { parsePolicy } from '../../src/policy/policy.ts';
import { Resolver } from '../../src/policy/resolver.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const allowed: string = workerData;
const floor = await Floor.open({
  policy: parsePolicy({ allow: [allowed] }),
  self: new SelfRegistry(),
  resolver: new Resolver(),
  peerPids: async () => new Set([process.pid]),
});
parentPort?.on('message', () => {
  void floor.close().then(() => parentPort?.close());
});
parentPort?.postMessage({ address: floor.address, port: floor.port });
