import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AirlockError } from '../../../src/errors.ts';
import { cutAt } from '../../../src/page/reading/cut.ts';
import { ReadingStore } from '../../../src/page/reading/store.ts';

const source = { url: 'http://127.0.0.1/', title: 'T' };

function partsOf(text: string, maxChars: number): string[] {
  const store = new ReadingStore();
  const parts: string[] = [];
  let part = store.first('text', source, text, maxChars);
  for (;;) {
    expect(part.total).toBe(text.length);
    expect(part.truncated).toBe(part.cursor !== undefined);
    parts.push(part.content);
    if (part.cursor === undefined) return parts;
    part = store.next('text', part.cursor, maxChars);
  }
}

describe('a cut', () => {
  it.each([
    ['ab👩‍👩‍👧cd', 5, ['ab', '👩‍👩‍👧', 'cd']],
    ['🇯🇵🇧🇷x', 5, ['🇯🇵', '🇧🇷x']],
    ['e\u0301e\u0301e\u0301', 3, ['e\u0301', 'e\u0301', 'e\u0301']],
    ['a\r\nb', 2, ['a', '\r\n', 'b']],
    ['abcdef', 2, ['ab', 'cd', 'ef']],
    ['abc', 3, ['abc']],
  ])('of %j at %i characters splits none', (text, maxChars, parts) => {
    expect(partsOf(text, maxChars)).toEqual(parts);
  });

  it('goes on through marks that are heaped up without end, without splitting a surrogate pair', () => {
    const text = `${'👩‍'.repeat(200)}👧${'😀'.repeat(3)}`;
    const parts = partsOf(text, 3);
    expect(parts.join('')).toBe(text);
    expect(parts.every((part) => part.isWellFormed())).toBe(true);
  });

  it('of any text gives parts that are the text, none of them empty or broken', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, maxChars) => {
        const parts = partsOf(text, maxChars);
        expect(parts.join('')).toBe(text);
        if (text !== '') expect(parts.every((part) => part !== '' && part.isWellFormed())).toBe(true);
      }),
    );
  });

  it('never moves backwards', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.nat(50),
        fc.integer({ min: 1, max: 9 }),
        (text, at, max) => {
          const from = Math.min(at, Math.max(0, text.length - 1));
          expect(cutAt(text, from, max)).toBeGreaterThanOrEqual(Math.min(text.length, from + 1));
        },
      ),
    );
  });
});

describe('cursors', () => {
  it.each(['', 'r1', 'r9:0', 'r1:999', 'r1:-1', 'r1:1e3', 's1:3'])('%j is refused', (cursor) => {
    const store = new ReadingStore();
    store.first('text', source, 'x'.repeat(100), 10);
    expect(() => store.next('text', cursor, 10)).toThrow(AirlockError);
  });

  it('of another kind of content are refused', () => {
    const store = new ReadingStore();
    const { cursor = '' } = store.first('text', source, 'x'.repeat(100), 10);
    expect(() => store.next('html', cursor, 10)).toThrow(/not one of recent html/);
  });

  it('the last contents are kept, within bounds, the newest always', () => {
    const store = new ReadingStore();
    const keep = (chars: number) => store.first('text', source, 'x'.repeat(chars), 10).cursor ?? '';
    const lives = (cursor: string): boolean => {
      try {
        store.next('text', cursor, 10);
        return true;
      } catch {
        return false;
      }
    };
    const small = Array.from({ length: 20 }, () => keep(100));
    expect(small.filter(lives)).toEqual(small.slice(-8));
    const large = [keep(9_000_000), keep(9_000_000), keep(20_000_000)];
    expect(large.map(lives)).toEqual([false, false, true]);
  });
});
