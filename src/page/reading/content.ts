import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { Operation } from '../operation.ts';
import { UNTRUSTED } from '../schema.ts';
import { PlaceInput } from './place.ts';
import { read } from './read.ts';
import type { Part } from './store.ts';
import { inThread } from './thread.ts';

/** Characters of one answer (api.md: "Limits on output"). */
export const DEFAULT_MAX_CHARS = 20_000;

export const LimitInput = {
  maxChars: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000_000, description: `default ${DEFAULT_MAX_CHARS}` }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 40, description: 'go on where an earlier answer was cut; without a place' }),
  ),
};

export const ContentInput = Type.Object({ ...PlaceInput, ...LimitInput }, { additionalProperties: false });
export type ContentInput = Static<typeof ContentInput>;

export const MarkdownInput = Type.Object(
  {
    ...ContentInput.properties,
    main: Type.Optional(
      Type.Boolean({ description: 'only the article, without navigation, where the page has one' }),
    ),
  },
  { additionalProperties: false },
);
export type MarkdownInput = Static<typeof MarkdownInput>;

export const Content = Type.Object({
  url: Type.String({ ...UNTRUSTED, description: 'of the document that was read' }),
  title: Type.String(UNTRUSTED),
  content: Type.String(UNTRUSTED),
  truncated: Type.Boolean(),
  total: Type.Integer({ description: 'characters of the whole content' }),
  cursor: Type.Optional(Type.String({ description: 'gives what follows' })),
});

/** What a page shows as text. @throws AirlockError those of `read`; `invalid_request` for a cursor that is not kept */
export function readText(op: Operation, input: ContentInput): Promise<Part> {
  return parted(op, 'text', input, async () => {
    const reading = await read(op, input, 'text');
    return { ...reading, content: reading.content.trim() };
  });
}

/** The document or element as HTML. @throws as `readText` */
export function readHtml(op: Operation, input: ContentInput): Promise<Part> {
  return parted(op, 'html', input, () => read(op, input, 'html'));
}

/** What a page shows as Markdown. @throws as `readText` */
export function readMarkdown(op: Operation, { main = false, ...input }: MarkdownInput): Promise<Part> {
  return parted(op, 'markdown', input, async () => {
    const { url, title, content: html } = await read(op, input, 'clean', main);
    const { markdown } = await inThread(op, { kind: 'markdown', html, url, title, main });
    return { url, title, content: markdown };
  });
}

async function parted(
  op: Operation,
  kind: string,
  { maxChars = DEFAULT_MAX_CHARS, cursor, ...place }: ContentInput,
  whole: () => Promise<{ url: string; title: string; content: string }>,
): Promise<Part> {
  const store = op.env.readings;
  if (cursor === undefined) {
    const { content, ...source } = await whole();
    return store.first(kind, source, content, maxChars);
  }
  if (Object.values(place).some((way) => way !== undefined)) throw cursorAlone();
  return store.next(kind, cursor, maxChars);
}

export function cursorAlone(): AirlockError {
  const detail = '/cursor: goes on with what was read; it takes no target, selector, ref or frame';
  return new AirlockError('invalid_request', detail, { extra: { pointer: '/cursor' } });
}

/** A content as plain text, with a last line where it was cut. */
export function asText({ content, truncated, total, cursor }: Part): string {
  if (!truncated) return `${content}\n`;
  return `${content}\n… cut; ${total} characters in all. Go on with cursor=${cursor}\n`;
}
