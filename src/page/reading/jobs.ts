import { Readability } from '@mozilla/readability';
import JSDOMParser from '@mozilla/readability/JSDOMParser.js';
import { Ajv } from 'ajv';
import { toMarkdown } from './markdown.ts';

export interface MarkdownJob {
  readonly kind: 'markdown';
  /** What injected/clean.ts printed. */
  readonly html: string;
  readonly url: string;
  readonly title: string;
  /** Only the article, where there is one. */
  readonly main: boolean;
}

export interface MarkdownAnswer {
  readonly markdown: string;
  /** It is the article alone. */
  readonly main: boolean;
  readonly byline?: string;
}

export interface CheckJob {
  readonly kind: 'check';
  readonly schema: object | boolean;
  readonly data: unknown;
}

export interface CheckAnswer {
  /** The schema itself is wrong. */
  readonly refused?: string;
  /** What does not fit, with the pointer of the place in the data (RFC 6901). */
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

export type Job = MarkdownJob | CheckJob;
export type JobAnswer<J extends Job> = J extends MarkdownJob ? MarkdownAnswer : CheckAnswer;

export function run(job: Job): MarkdownAnswer | CheckAnswer {
  return job.kind === 'markdown' ? markdown(job) : check(job);
}

function markdown({ html, url, title, main }: MarkdownJob): MarkdownAnswer {
  const article = main ? articleOf(html, url, title) : undefined;
  if (article === undefined) return { markdown: toMarkdown(html), main: false };
  const heading = article.title === '' ? '' : `<h1>${escapeText(article.title)}</h1>`;
  return {
    markdown: toMarkdown(heading + article.html),
    main: true,
    ...(article.byline !== undefined && { byline: article.byline }),
  };
}

/** Characters. Readability takes whatever there is where nothing is an article; its own measure of a paragraph is 140. */
const SHORTEST_ARTICLE = 280;

function articleOf(
  html: string,
  url: string,
  title: string,
): { html: string; title: string; byline: string | undefined } | undefined {
  const page = `<html><head><title>${escapeText(title)}</title></head><body>${html}</body></html>`;
  const found = new Readability(new JSDOMParser().parse(page, url), { disableJSONLD: true }).parse();
  if (!found?.content || (found.length ?? 0) < SHORTEST_ARTICLE) return undefined;
  const shown = /<h1\b/i.test(found.content) ? '' : (found.title ?? '');
  return { html: found.content, title: shown, byline: found.byline ?? undefined };
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Words that a schema may have beside those of JSON Schema: where the data is. */
export const SCHEMA_HINTS = ['selector', 'attr'] as const;

function check({ schema, data }: CheckJob): CheckAnswer {
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false, logger: false });
  let validate: ReturnType<typeof ajv.compile>;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error), errors: [] };
  }
  if (validate(data)) return { errors: [] };
  const errors = (validate.errors ?? []).slice(0, 50);
  return {
    errors: errors.map(({ instancePath, message }) => ({
      pointer: instancePath,
      message: message ?? 'does not fit',
    })),
  };
}
