import { AirlockError } from '../../errors.ts';
import { assembleFrames, type WalkedFrame } from './assemble.ts';
import { diffSnapshots, type SnapshotDiff } from './diff.ts';
import { largestParts, type Part, sliceLines } from './paginate.ts';
import type { SnapshotStore, StoredSnapshot } from './store.ts';
import { headOf, parseTree, refOf } from './tree.ts';

/** How the text of a walked page is to be answered. */
export interface AssembleOptions {
  readonly tab: string;
  /** Characters of lines in one answer, header and footer not counted. */
  readonly maxChars: number;
  /** The id of an earlier snapshot: answer only what changed since. */
  readonly since?: string;
  /** Names the options that shaped the walk (interactive, depth, root …): only like is compared with like. */
  readonly shape?: string;
}

/** One answer of GET S/snapshot. */
export interface SnapshotAnswer {
  readonly id: string;
  readonly tab: string;
  readonly url: string;
  readonly title: string;
  /** Header, lines and, where something is left out, a footer that says so. */
  readonly text: string;
  readonly truncated: boolean;
  /** Characters of all lines. */
  readonly total: number;
  /** Give it back to get the lines that follow. */
  readonly cursor?: string;
  /** Where the text was cut: parts of the page that can be asked for by `ref`. */
  readonly largest?: readonly Part[];
  /** With `since`: how many lines changed. `whole` when the page is so different that all of it is answered. */
  readonly diff?: {
    readonly since: string;
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
    readonly whole: boolean;
  };
}

/**
 * Makes the answer from the walked frames of a tab, and keeps the whole text for `cursor` and `since`.
 * @throws AirlockError `invalid_request` if `since` is not a kept snapshot of this tab with the same options
 */
export function assembleSnapshot(
  frames: WalkedFrame,
  options: AssembleOptions,
  store: SnapshotStore,
): SnapshotAnswer {
  const { url, title } = frames.walked;
  const full = assembleFrames(frames);
  const shape = options.shape ?? '';
  const about = { tab: options.tab, url, title, shape, full };
  if (options.since === undefined) return answer(store.add({ ...about, shown: full }), 0, options.maxChars);
  const before = earlier(store, options.since, options.tab, shape);
  const diff = diffSnapshots(before.full, full);
  const whole = diff.text.length > full.length;
  const stored = store.add({ ...about, shown: whole ? full : diff.text });
  const counts = { since: before.id, added: diff.added, removed: diff.removed, changed: diff.changed, whole };
  return { ...answer(stored, 0, options.maxChars, changeNote(before.id, diff, whole)), diff: counts };
}

/**
 * The lines that follow an earlier answer, from the text as it was then.
 * @throws AirlockError `invalid_request` if the cursor is malformed or its snapshot is no longer kept
 */
export function continueSnapshot(cursor: string, maxChars: number, store: SnapshotStore): SnapshotAnswer {
  const match = /^(s\d+):(\d+)$/.exec(cursor);
  const stored = match === null ? undefined : store.get(match[1] ?? '');
  const from = Number(match?.[2] ?? 0);
  if (stored === undefined || (from > 0 && stored.shown[from - 1] !== '\n')) {
    throw new AirlockError(
      'invalid_request',
      `the cursor ${cursor} is not one of a recent snapshot; take a new one`,
    );
  }
  return answer(stored, from, maxChars);
}

/** What a snapshot said of a ref: to tell a caller what a stale ref was, and to look for its like. */
export function rememberedLine(
  text: string,
  ref: string,
): { role: string; name: string; line: string } | undefined {
  const line = parseTree(text).lines.find((one) => refOf(one) === ref);
  return line === undefined ? undefined : { ...headOf(line), line };
}

function earlier(store: SnapshotStore, since: string, tab: string, shape: string): StoredSnapshot {
  const before = store.get(since);
  if (before === undefined) {
    throw new AirlockError('invalid_request', `since: ${since} is not a recent snapshot of this session`);
  }
  if (before.tab !== tab)
    throw new AirlockError('invalid_request', `since: ${since} is of tab ${before.tab}`);
  if (before.shape !== shape) {
    throw new AirlockError(
      'invalid_request',
      `since: ${since} was taken with other options; use the same ones`,
    );
  }
  return before;
}

function changeNote(since: string, diff: SnapshotDiff, whole: boolean): string {
  const { added, removed, changed } = diff;
  if (added + removed + changed === 0) return ` since=${since}: nothing changed`;
  if (whole) return ` since=${since}: most of the page changed, all of it follows`;
  return ` since=${since}: ${added} added, ${removed} removed, ${changed} changed`;
}

function answer(stored: StoredSnapshot, from: number, maxChars: number, note = ''): SnapshotAnswer {
  const { id, tab, url, title, shown } = stored;
  const slice = sliceLines(shown, from, maxChars);
  const place =
    from === 0
      ? ''
      : ` continued at ${from}${slice.inside.length === 0 ? '' : ` in ${slice.inside.join(' > ')}`}`;
  const header = `page ${tab} ${url} ${JSON.stringify(title)} snapshot=${id}${note}${place}`;
  const lines = slice.text === '' ? '' : `\n${slice.text}`;
  const base = { id, tab, url, title, total: shown.length };
  if (slice.next === undefined) return { ...base, text: header + lines, truncated: false };
  const cursor = `${id}:${slice.next}`;
  const largest = from === 0 && shown === stored.full ? largestParts(shown, maxChars) : [];
  const left = `… ${shown.length - slice.next} of ${shown.length} characters in ${slice.linesLeft} lines are left out. Go on with cursor=${cursor}`;
  const parts = largest.map(({ ref, line, chars }) => `\n  ref=${ref} ${line}: ${chars} characters`);
  const footer = parts.length === 0 ? left : `${left}, or ask for a part:${parts.join('')}`;
  return { ...base, text: `${header}${lines}\n${footer}`, truncated: true, cursor, largest };
}
