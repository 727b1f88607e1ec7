import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { ChromeConnection } from '../../src/sessions/chrome-connection.ts';
import { PipeTransport } from '../../src/sessions/pipe-transport.ts';

/** What a Chrome that is broken, or taken over, could send. */
test.each([
  ['no JSON', 'x'],
  ['an event without its parameters', '{"method":"Target.attachedToTarget"}'],
  ['nothing at all', 'null'],
])('%s ends the connection, with the reason told, and not the service', async (_, message) => {
  const [toChrome, fromChrome] = [new PassThrough(), new PassThrough()];
  const transport = new PipeTransport(toChrome, fromChrome);
  const faults: unknown[] = [];
  const connection = new ChromeConnection(transport, (error) => faults.push(error));
  const asked = connection.send('Browser.getVersion').catch((error: unknown) => error);
  fromChrome.write(`${message}\0`);
  await transport.closed;
  expect(faults).toEqual([expect.any(Error)]);
  expect(await asked).toBeInstanceOf(Error);
  await expect(connection.send('Browser.getVersion')).rejects.toThrow(/closed/i);
});

test('so does a listener that fails', async () => {
  const [toChrome, fromChrome] = [new PassThrough(), new PassThrough()];
  const transport = new PipeTransport(toChrome, fromChrome);
  const faults: unknown[] = [];
  const connection = new ChromeConnection(transport, (error) => faults.push(error));
  connection.on('Target.targetCreated', () => {
    throw new Error('not expected');
  });
  fromChrome.write('{"method":"Target.targetCreated","params":{}}\0');
  await transport.closed;
  expect(faults).toEqual([new Error('not expected')]);
});

test('a command to a Chrome whose pipe has just ended is a promise that fails', async () => {
  const [toChrome, fromChrome] = [new PassThrough(), new PassThrough()];
  const transport = new PipeTransport(toChrome, fromChrome);
  const connection = new ChromeConnection(transport, () => undefined);
  const sent = () => [connection.send('Browser.getVersion'), connection.send('Browser.getVersion')];
  const before = sent();
  toChrome.destroy();
  const all = await Promise.allSettled([...before, ...sent()]);
  expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'rejected'));
});
