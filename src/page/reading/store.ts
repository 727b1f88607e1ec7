import { AirlockError } from '../../errors.ts';
import { cutAt } from './cut.ts';

/** Where a content is from. */
export interface Source {
  readonly url: string;
  readonly title: string;
}

/** A part of a content that may be too long for one answer. */
export interface Part extends Source {
  readonly content: string;
  /** There is more behind it. */
  readonly truncated: boolean;
  /** Characters of the whole. */
  readonly total: number;
  /** Give it back to get what follows. */
  readonly cursor?: string;
}

export interface Stored {
  readonly kind: string;
  readonly source: Source;
  readonly content: string;
}

/** Enough to page through one content while others are read. */
const KEEP_COUNT = 8;
/** Characters that one session may hold; the newest always stays. */
const KEEP_CHARS = 16_000_000;

/** The last contents of one session that did not fit into an answer, so that what follows is of the same moment. */
export class ReadingStore {
  readonly #kept = new Map<string, Stored>();
  #count = 0;

  /** @returns the id under which the content is kept */
  keep(kind: string, source: Source, content: string): string {
    this.#count += 1;
    const id = `r${this.#count}`;
    this.#kept.set(id, { kind, source, content });
    let chars = 0;
    [...this.#kept].reverse().forEach(([key, one], index) => {
      chars += one.content.length;
      if (index > 0 && (index >= KEEP_COUNT || chars > KEEP_CHARS)) this.#kept.delete(key);
    });
    return id;
  }

  /**
   * What a cursor goes on with, and where.
   * @throws AirlockError `invalid_request` for a cursor of another kind of content, or one that is no longer kept
   */
  at(kind: string, cursor: string): { id: string; from: number; stored: Stored } {
    const match = /^(r\d{1,9}):(\d{1,9})$/.exec(cursor);
    const id = match?.[1] ?? '';
    const stored = this.#kept.get(id);
    const from = Number(match?.[2] ?? 0);
    if (stored?.kind === kind && from < stored.content.length) return { id, from, stored };
    const detail = `/cursor: ${JSON.stringify(cursor)} is not one of recent ${kind} of this session; read it again`;
    throw new AirlockError('invalid_request', detail, { extra: { pointer: '/cursor' } });
  }

  /** The first part of a content; the whole is kept if there is more. */
  first(kind: string, source: Source, content: string, maxChars: number): Part {
    if (content.length <= maxChars) return { ...source, content, truncated: false, total: content.length };
    return partOf(this.keep(kind, source, content), { kind, source, content }, 0, maxChars);
  }

  /** The part that follows. @throws AirlockError as `at` */
  next(kind: string, cursor: string, maxChars: number): Part {
    const { id, from, stored } = this.at(kind, cursor);
    return partOf(id, stored, from, maxChars);
  }
}

function partOf(id: string, { source, content }: Stored, from: number, maxChars: number): Part {
  const end = cutAt(content, from, maxChars);
  const part = { ...source, content: content.slice(from, end), total: content.length };
  return end < content.length
    ? { ...part, truncated: true, cursor: `${id}:${end}` }
    : { ...part, truncated: false };
}
