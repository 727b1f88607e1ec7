import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageTooLargeError, NulFraming } from '../../src/sessions/nul-framing.ts';

const message = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\0', '·'));

/** Cuts bytes at the given places, empty pieces included. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...[...places].sort((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

describe('framing', () => {
  test('any messages cut at any places come out the same, multi-byte characters included', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (messages, numbers) => {
          const bytes = Buffer.from(messages.map((text) => `${text}\0`).join(''));
          const places = numbers.map((number) => number % (bytes.length + 1));
          const framing = new NulFraming(1_000);
          const out = cut(bytes, places).flatMap((chunk) => [...framing.push(chunk)]);
          expect(out).toEqual(messages.map((text) => text.toWellFormed()));
          expect(framing.pendingBytes).toBe(0);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('one byte at a time', () => {
    const framing = new NulFraming(1_000);
    const out = [...Buffer.from('{"a":"😀"}\0\0x\0tail')].flatMap((byte) => [
      ...framing.push(Buffer.from([byte])),
    ]);
    expect(out).toEqual(['{"a":"😀"}', '', 'x']);
    expect(framing.pendingBytes).toBe(4);
  });

  test('the limit counts bytes over chunks, whether the end is seen or not', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 100 }),
        fc.boolean(),
        (limit, size, ended) => {
          const framing = new NulFraming(limit);
          const chunks = cut(Buffer.from('z'.repeat(size) + (ended ? '\0' : '')), [size >> 1]);
          const push = () => chunks.flatMap((chunk) => [...framing.push(chunk)]);
          if (size > limit) expect(push).toThrow(MessageTooLargeError);
          else expect(push()).toEqual(ended ? ['z'.repeat(size)] : []);
        },
      ),
    );
  });

  test('messages before the one that is too large are delivered', () => {
    const framing = new NulFraming(3);
    const out: string[] = [];
    expect(() => {
      for (const text of framing.push(Buffer.from('ab\0abcd\0'))) out.push(text);
    }).toThrow(MessageTooLargeError);
    expect(out).toEqual(['ab']);
  });
});
