import { expect, test } from 'vitest';
import { Audience, Idempotency } from '../../src/sessions/idempotency.ts';

function maker() {
  let made = 0;
  return { make: async () => ++made };
}

test('the same key and body give what was made, whatever the order of the members', async () => {
  const { make } = maker();
  const keys = new Idempotency<number>(60_000);
  const first = keys.once('k', { a: 1, b: { c: [1, 2], d: 'x' } }, make);
  const again = keys.once('k', { b: { d: 'x', c: [1, 2] }, a: 1 }, make);
  expect([first.replayed, await first.made]).toEqual([false, 1]);
  expect([again.replayed, await again.made]).toEqual([true, 1]);
  const other = keys.once('l', { a: 1 }, make);
  expect([other.replayed, await other.made]).toEqual([false, 2]);
});

test.each([{ a: 2 }, {}, { a: 1, b: 1 }, { a: '1' }, { a: [1] }])('another body, %j, is refused', (body) => {
  const { make } = maker();
  const keys = new Idempotency<number>(60_000);
  keys.once('k', { a: 1 }, make);
  expect(() => keys.once('k', body, make)).toThrow(
    expect.objectContaining({ code: 'idempotency_key_reused' }),
  );
});

test('what failed is not remembered, nor is its body', async () => {
  const keys = new Idempotency<number>(60_000);
  const failed = keys.once('k', { a: 1 }, () => Promise.reject(new Error('no')));
  await expect(failed.made).rejects.toThrow('no');
  const { make } = maker();
  const next = keys.once('k', { a: 2 }, make);
  expect([next.replayed, await next.made]).toEqual([false, 1]);
});

test('an audience is gone when all have left, also one that came too late', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const audience = new Audience();
  audience.join(first.signal);
  audience.join(second.signal);
  audience.join(AbortSignal.abort());
  first.abort();
  expect(audience.gone.aborted).toBe(false);
  second.abort();
  expect(audience.gone.aborted).toBe(true);
  const late = new Audience();
  late.join(AbortSignal.abort());
  expect(late.gone.aborted).toBe(true);
});
