import { Type } from 'typebox';
import {
  asText,
  Content,
  ContentInput,
  MarkdownInput,
  readHtml,
  readMarkdown,
  readText,
} from '../page/reading/content.ts';
import { ExtractInput, ExtractResult, extract } from '../page/reading/extract.ts';
import { FramesInput, FramesResult, listFrames } from '../page/reading/frames.ts';
import { LinksInput, LinksResult, readLinks } from '../page/reading/links.ts';
import { QueryInput, QueryResult, query } from '../page/reading/query.ts';
import { ScreenshotInput, screenshot } from '../page/screenshot.ts';
import type { SnapshotAnswer } from '../page/snapshot/answer.ts';
import { SnapshotInput, snapshot } from '../page/snapshot/snapshot.ts';
import { Bytes, defineOperation } from './define.ts';

const SnapshotResult = Type.Object({
  id: Type.String({ description: 's1, s2, …: for since' }),
  tab: Type.String(),
  url: Type.String({ 'x-untrusted': true }),
  title: Type.String({ 'x-untrusted': true }),
  text: Type.String({ 'x-untrusted': true }),
  truncated: Type.Boolean(),
  total: Type.Integer({ description: 'characters of the whole snapshot' }),
  cursor: Type.Optional(Type.String({ description: 'gives the lines that follow' })),
  largest: Type.Optional(
    Type.Array(Type.Unknown(), { 'x-untrusted': true, description: 'parts that can be asked for by ref' }),
  ),
  diff: Type.Optional(
    Type.Object({
      since: Type.String(),
      added: Type.Integer(),
      removed: Type.Integer(),
      changed: Type.Integer(),
      whole: Type.Boolean({ description: 'so much changed that all of it is answered' }),
    }),
  ),
});

const snapshotOperation = defineOperation({
  name: 'snapshot',
  method: 'GET',
  path: '/v1/sessions/{id}/snapshot',
  summary: 'The page as text, with refs (e12) for what can be acted on',
  tag: 'reading',
  scope: 'page',
  input: SnapshotInput,
  result: Type.Unsafe<SnapshotAnswer>(SnapshotResult),
  errors: ['invalid_target', 'target_not_found', 'stale_ref', 'frame_not_found'],
  text: (result) => `${result.text}\n`,
  run: ({ op }, input) => snapshot(op, input),
});

const screenshotOperation = defineOperation({
  name: 'screenshot',
  method: 'GET',
  path: '/v1/sessions/{id}/screenshot',
  summary: 'An image of the page: PNG, JPEG or WebP',
  tag: 'reading',
  scope: 'page',
  input: ScreenshotInput,
  result: Type.Unknown(),
  binary: ['image/png', 'image/jpeg', 'image/webp'],
  errors: ['too_large'],
  async run({ op }, input) {
    const image = await screenshot(op, input);
    return new Bytes(image.bytes, image.contentType);
  },
});

const PLACE_ERRORS = [
  'invalid_target',
  'target_not_found',
  'ambiguous_target',
  'stale_ref',
  'frame_not_found',
  'too_large',
] as const;

const text = defineOperation({
  name: 'text',
  method: 'GET',
  path: '/v1/sessions/{id}/text',
  summary: 'What the page or an element shows, as plain text, with its frames',
  tag: 'reading',
  scope: 'page',
  input: ContentInput,
  result: Content,
  errors: PLACE_ERRORS,
  text: asText,
  run: ({ op }, input) => readText(op, input),
});

const html = defineOperation({
  name: 'html',
  method: 'GET',
  path: '/v1/sessions/{id}/html',
  summary: 'The document or an element as HTML, as it is now, with its shadow roots',
  tag: 'reading',
  scope: 'page',
  input: ContentInput,
  result: Content,
  errors: PLACE_ERRORS,
  text: asText,
  run: ({ op }, input) => readHtml(op, input),
});

const markdown = defineOperation({
  name: 'markdown',
  method: 'GET',
  path: '/v1/sessions/{id}/markdown',
  summary: 'What the page or an element shows, as Markdown; with main=1 only its article',
  tag: 'reading',
  scope: 'page',
  input: MarkdownInput,
  result: Content,
  errors: PLACE_ERRORS,
  text: asText,
  run: ({ op }, input) => readMarkdown(op, input),
});

const links = defineOperation({
  name: 'links',
  method: 'GET',
  path: '/v1/sessions/{id}/links',
  summary: 'The links of the page with its frames, or of an element: absolute, each once',
  tag: 'reading',
  scope: 'page',
  input: LinksInput,
  result: LinksResult,
  errors: PLACE_ERRORS,
  run: ({ op }, input) => readLinks(op, input),
});

const queryOperation = defineOperation({
  name: 'query',
  method: 'POST',
  path: '/v1/sessions/{id}/query',
  summary:
    'Facts of an element, or of all that match: text, value, HTML, attributes, box, state, style, count',
  tag: 'reading',
  scope: 'page',
  input: QueryInput,
  result: QueryResult,
  errors: PLACE_ERRORS,
  run: ({ op }, input) => query(op, input),
});

const extractOperation = defineOperation({
  name: 'extract',
  method: 'POST',
  path: '/v1/sessions/{id}/extract',
  summary: 'Data of the page by CSS selectors, checked against a JSON Schema',
  tag: 'reading',
  scope: 'page',
  input: ExtractInput,
  result: ExtractResult,
  errors: [...PLACE_ERRORS, 'assertion_failed'],
  run: ({ op }, input) => extract(op, input),
});

const frames = defineOperation({
  name: 'frames',
  method: 'GET',
  path: '/v1/sessions/{id}/frames',
  summary: 'The frames of a tab: what f1 in refs stands for',
  tag: 'reading',
  scope: 'observer',
  input: FramesInput,
  result: FramesResult,
  errors: ['tab_not_found'],
  run: async ({ session }, { tab }) => listFrames(session.tabs.get(tab)),
});

export const readingOperations = [
  snapshotOperation,
  text,
  html,
  markdown,
  links,
  queryOperation,
  extractOperation,
  frames,
  screenshotOperation,
];
