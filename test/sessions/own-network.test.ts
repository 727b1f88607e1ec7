import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inOwnNetwork, whyNoOwnNetwork } from '../../src/sessions/own-network.ts';

const place = { host: '127.0.0.1', port: 12_345 };

/** What stands in for Chrome is reached, with nobody at the other end of the channel. */
describe.skipIf((await whyNoOwnNetwork()) !== undefined)('a start whose service dies', () => {
  const begin = () => {
    const command = inOwnNetwork('/bin/true', []);
    const child = spawn(command.path, command.args, {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    const exited = once(child, 'exit');
    onTestFinished(() => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // as it should be: nothing of it is left
      }
    });
    return { child, exited };
  };

  test('before it has asked for a listener comes to an end', async () => {
    const { child, exited } = begin();
    child.disconnect();
    expect(await exited).toEqual([0, null]);
  });

  test('while its listener is being opened comes to an end', async () => {
    const { child, exited } = begin();
    child.send(place);
    child.disconnect();
    expect(await exited).toEqual([0, null]);
  });

  test('with the listener in its hands comes to an end', async () => {
    const { child, exited } = begin();
    child.send(place);
    const [, handle] = await once(child, 'message');
    child.disconnect();
    expect(await exited).toEqual([0, null]);
    handle.close();
  });
});
