import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inOwnNetwork, whyNoOwnNetwork } from '../../src/sessions/own-network.ts';

const place = { host: '127.0.0.1', port: 12_345 };

/** What stands in for Chrome is reached only when the listener was sent. */
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
    expect(await exited).toEqual([1, null]);
  });

  test('while its listener is being opened comes to an end', async () => {
    const { child, exited } = begin();
    child.send(place);
    child.disconnect();
    const [code, signal] = await exited;
    // It may have sent it before it sees that nobody is there.
    expect([0, 1]).toContain(code);
    expect(signal).toBeNull();
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
