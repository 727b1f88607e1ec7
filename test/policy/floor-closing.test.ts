import { nextTick } from 'node:process';
import { expect, test } from 'vitest';
import { TestFloor } from '../support/floor.ts';
import { socksConnect } from '../support/socks-client.ts';

/**
 * A floor in the one turn of the event loop in which the end of a connection that it refused has been handed to the
 * kernel and is not done: libuv refuses to reset a socket then.
 */
async function withEndUnderWay() {
  const all = await TestFloor.open({});
  const denied = new Promise<void>((resolve) => all.floor.log.onDenial(() => resolve()));
  const asked = socksConnect(all.floor, '127.0.0.1', 1234).catch(() => undefined);
  await denied;
  await new Promise<void>((resolve) => nextTick(resolve));
  return {
    floor: all.floor,
    async [Symbol.asyncDispose](): Promise<void> {
      (await asked)?.client.socket.destroy();
      await all[Symbol.asyncDispose]();
    },
  };
}

test('a floor closes although the end of a connection is on its way', async () => {
  await using all = await withEndUnderWay();
  expect(await all.floor.close()).toEqual({ connectionsClosed: 1 });
});

test('a floor that fails then tells of its own fault, and of no other', async () => {
  await using all = await withEndUnderWay();
  const told = new Promise((resolve) => all.floor.onDown(resolve));
  all.floor.fail(new Error('a fault'));
  expect(await told).toMatchObject({ message: 'a fault' });
  await all.floor.close();
});
