import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AirlockError } from '../../../src/errors.ts';
import type { FrameText } from '../../../src/page/injected/types.ts';
import { assembleSnapshot, continueSnapshot, rememberedLine } from '../../../src/page/snapshot/answer.ts';
import type { WalkedFrame } from '../../../src/page/snapshot/assemble.ts';
import { diffSnapshots } from '../../../src/page/snapshot/diff.ts';
import { sliceLines } from '../../../src/page/snapshot/paginate.ts';
import { SnapshotStore } from '../../../src/page/snapshot/store.ts';

function frame(text: string, title = 'Title'): WalkedFrame {
  const walked: FrameText = { text, nextRef: 1, frames: [], closedHosts: 0, url: 'http://127.0.0.1/', title };
  return { walked, children: new Map() };
}

const options = { tab: 't1', maxChars: 20_000 };
const lines = (count: number): string =>
  Array.from({ length: count }, (_, i) => `- link "Item ${i}" [ref=e${i + 1}]`).join('\n');

/** Random snapshots: lines with depths that grow by one at most. */
const texts = fc
  .array(
    fc.record({
      depth: fc.nat(4),
      role: fc.constantFrom('list', 'listitem', 'link', 'text'),
      name: fc.string(),
      ref: fc.nat(30),
    }),
  )
  .map((items) => {
    let depth = -1;
    return items
      .map(({ depth: wanted, role, name, ref }) => {
        depth = Math.min(wanted, depth + 1);
        const quoted = JSON.stringify(name.replace(/\s/g, ' '));
        return `${'  '.repeat(depth)}- ${role} ${quoted}${role === 'link' ? ` [ref=e${ref}]` : ''}`;
      })
      .join('\n');
  });

describe('an answer', () => {
  it('has a header that a title cannot forge, and numbers snapshots', () => {
    const store = new SnapshotStore();
    const first = assembleSnapshot(
      frame('- button "A" [ref=e1]', 'a"\n- button "B" [ref=e2]'),
      options,
      store,
    );
    expect(first.text).toBe(
      'page t1 http://127.0.0.1/ "a\\"\\n- button \\"B\\" [ref=e2]" snapshot=s1\n- button "A" [ref=e1]',
    );
    expect(first).toMatchObject({ id: 's1', truncated: false, total: 21 });
    expect(assembleSnapshot(frame(''), options, store)).toMatchObject({
      id: 's2',
      total: 0,
      truncated: false,
    });
  });

  it('too long is cut between lines; the cursors give the rest, as it was, to the end', () => {
    const store = new SnapshotStore();
    const text = lines(500);
    let answer = assembleSnapshot(frame(text), { ...options, maxChars: 1000 }, store);
    const shown: string[] = [];
    for (let round = 0; round < 100; round++) {
      expect(answer.total).toBe(text.length);
      const body = answer.text
        .split('\n')
        .slice(1)
        .filter((line) => line.startsWith('- '));
      expect(body.join('\n').length).toBeLessThanOrEqual(1000);
      shown.push(...body);
      if (answer.cursor === undefined) break;
      expect(answer.truncated).toBe(true);
      expect(answer.text).toContain(`Go on with cursor=${answer.cursor}`);
      answer = continueSnapshot(answer.cursor, 1000, store);
    }
    expect(shown.join('\n')).toBe(text);
  });

  it('that goes on says what it is inside of', () => {
    const store = new SnapshotStore();
    const text = `- main "M"\n  - list\n${lines(50).replace(/^/gm, '    ')}`;
    const { cursor = '' } = assembleSnapshot(frame(text), { ...options, maxChars: 600 }, store);
    expect(continueSnapshot(cursor, 600, store).text.split('\n')[0]).toMatch(
      / continued at \d+ in main "M" > list$/,
    );
  });

  it('too long names the parts that can be asked for, largest first', () => {
    const store = new SnapshotStore();
    const part = (ref: number, count: number): string =>
      `- navigation "N${ref}" [ref=e${ref}]\n${lines(count).replace(/^/gm, '  ')}`;
    const text = `- main [ref=e90]\n${[part(91, 100), part(92, 10), part(93, 40)].join('\n').replace(/^/gm, '  ')}\n- text: end`;
    const answer = assembleSnapshot(frame(text), { ...options, maxChars: 3000 }, store);
    expect(answer.largest?.map(({ ref }) => ref)).toEqual(['e91', 'e93', 'e92']);
    expect(answer.text).toMatch(/or ask for a part:\n {2}ref=e91 navigation "N91": \d+ characters/);
  });

  it.each(['', 's1', 's9:0', 's1:3', 's1:-1', 's1:1e3', 'x'])('cursor %j is refused', (cursor) => {
    const store = new SnapshotStore();
    assembleSnapshot(frame(lines(3)), options, store);
    expect(() => continueSnapshot(cursor, 100, store)).toThrow(AirlockError);
  });

  it('slices of any text, taken one after the other, are the text', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 200 }), (text, maxChars) => {
        const slices: string[] = [];
        for (let from: number | undefined = 0; from !== undefined; ) {
          const slice = sliceLines(text, from, maxChars);
          slices.push(slice.text);
          from = slice.next;
        }
        expect(slices.join('\n')).toBe(text);
      }),
    );
  });
});

describe('since', () => {
  it('answers only what changed, each with its path', () => {
    const before = `- main\n  - list "Todos"\n    - listitem: Milk\n    - checkbox "Done" [ref=e5]\n    - listitem: Bread\n- contentinfo: Foot`;
    const after = `- main\n  - list "Todos"\n    - listitem: Milk\n    - checkbox "Done" [ref=e5] [checked]\n    - link "New" [ref=e9]\n      - img "x"\n- contentinfo: Foot`;
    const store = new SnapshotStore();
    assembleSnapshot(frame(before), options, store);
    const answer = assembleSnapshot(frame(after), { ...options, since: 's1' }, store);
    expect(answer.text.split('\n')).toEqual([
      'page t1 http://127.0.0.1/ "Title" snapshot=s2 since=s1: 2 added, 1 removed, 1 changed',
      '@ main > list "Todos"',
      '- listitem: Bread',
      '~ checkbox "Done" [ref=e5] [checked]',
      '  was checkbox "Done" [ref=e5]',
      '+ link "New" [ref=e9]',
      '+   img "x"',
    ]);
    expect(assembleSnapshot(frame(after), { ...options, since: 's2' }, store).text).toMatch(
      /since=s2: nothing changed$/,
    );
  });

  it('a ref is the same line whatever became of it; another ref is another line', () => {
    expect(diffSnapshots('- button "A" [ref=e1]', '- link "B" [ref=e1]')).toMatchObject({
      added: 0,
      removed: 0,
      changed: 1,
    });
    expect(diffSnapshots('- button "A" [ref=e1]', '- button "A" [ref=e2]')).toMatchObject({
      added: 1,
      removed: 1,
      changed: 0,
    });
  });

  it('one row among thousands', () => {
    const rows = (n: number, odd: number): string =>
      Array.from(
        { length: n },
        (_, i) => `  - row\n    - cell: ${i === odd ? 'odd' : i}\n    - button "Edit" [ref=e${i}]`,
      ).join('\n');
    const diff = diffSnapshots(`- table\n${rows(3000, -1)}`, `- table\n${rows(3000, 1500)}`);
    expect(diff).toMatchObject({ added: 0, removed: 0, changed: 1 });
    expect(diff.text).toBe('@ table > row\n~ cell: odd\n  was cell: 1500');
  });

  it('a new page is answered whole', () => {
    const store = new SnapshotStore();
    assembleSnapshot(frame(lines(20)), options, store);
    const other = lines(20).replaceAll('Item', 'Other').replaceAll('ref=e', 'ref=e9');
    const answer = assembleSnapshot(frame(other), { ...options, since: 's1' }, store);
    expect(answer.diff?.whole).toBe(true);
    expect(answer.text).toContain(other);
  });

  it('is refused for an unknown snapshot, another tab or other options', () => {
    const store = new SnapshotStore();
    assembleSnapshot(frame(lines(2)), options, store);
    expect(() => assembleSnapshot(frame(''), { ...options, since: 's7' }, store)).toThrow(
      /not a recent snapshot/,
    );
    expect(() => assembleSnapshot(frame(''), { ...options, tab: 't2', since: 's1' }, store)).toThrow(
      /tab t1/,
    );
    expect(() =>
      assembleSnapshot(frame(''), { ...options, shape: 'interactive', since: 's1' }, store),
    ).toThrow(/other options/);
  });

  it('counts add up for any two pages, and nothing differs from itself', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        expect(diffSnapshots(before, before)).toEqual({ text: '', added: 0, removed: 0, changed: 0 });
        const { added, removed } = diffSnapshots(before, after);
        const count = (text: string): number => (text === '' ? 0 : text.split('\n').length);
        expect(count(before) - removed + added).toBe(count(after));
      }),
    );
  });
});

describe('the store', () => {
  it('keeps the last few, never more characters than it may, and always the newest', () => {
    const store = new SnapshotStore();
    const add = (full: string): string =>
      store.add({ tab: 't1', url: '', title: '', full, shown: full, shape: '' }).id;
    const ids = Array.from({ length: 20 }, () => add('x'));
    expect(ids.filter((id) => store.get(id) !== undefined)).toEqual(ids.slice(-8));
    const large = [add('x'.repeat(9_000_000)), add('x'.repeat(9_000_000)), add('x'.repeat(20_000_000))];
    expect(large.map((id) => store.get(id)?.full.length)).toEqual([undefined, undefined, 20_000_000]);
    expect(store.latest('t1')?.id).toBe(large[2]);
    expect(store.latest('t2')).toBeUndefined();
  });

  it('remembers what a ref was', () => {
    const text = '- main\n  - button "Say \\"hi\\" [ref=e2]" [ref=e1] [disabled]';
    expect(rememberedLine(text, 'e1')).toMatchObject({ role: 'button', name: 'Say "hi" [ref=e2]' });
    expect(rememberedLine(text, 'e2')).toBeUndefined();
  });
});
