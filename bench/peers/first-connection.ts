import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { timed } from '../measure.ts';
import { PeerHome } from './home.ts';

/**
 * How long a Chrome with the flags of the service takes, from nothing, until its first connection comes out at its proxy, in
 * milliseconds: it has the address on its command line, so nobody has to tell it to. No proof that its traffic goes there can
 * be had sooner.
 */
export async function firstConnection(bench: Bench): Promise<number> {
  const proxy = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  check(address !== null && typeof address === 'object', 'the proxy does not listen');
  const connected = once(proxy, 'connection');
  const [ms, { home, chrome }] = await timed(async () => {
    const made = await PeerHome.make(bench);
    const flags = made.flagsWithFloor({ floorAddress: '127.0.0.1', floorPort: address.port });
    const args = flags.map((flag) => (flag === 'about:blank' ? 'http://first.invalid/' : flag));
    check(args.includes('http://first.invalid/'), 'the command line has no address');
    const started = spawn(bench.chrome.path, args, {
      env: made.env,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true, // a group of its own, so that its helpers can be ended with it
    });
    await connected;
    return { home: made, chrome: started };
  });
  check(chrome.pid !== undefined, 'Chrome did not start');
  const exited = once(chrome, 'exit');
  process.kill(-chrome.pid, 'SIGKILL');
  await exited;
  proxy.close();
  await home[Symbol.asyncDispose]();
  return ms;
}
