import { type Static, Type } from 'typebox';
import { ScreenshotInput, screenshot } from '../page/screenshot.ts';
import { takeSnapshot } from '../page/snapshot/take.ts';
import { Bytes, defineOperation } from './define.ts';

const SnapshotInput = Type.Object(
  {
    interactive: Type.Optional(Type.Boolean({ description: 'only what can be acted on, and its ancestors' })),
    depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'levels below the root' })),
    selector: Type.Optional(Type.String({ description: 'only the subtree of this element (CSS)' })),
    viewport: Type.Optional(Type.Boolean({ description: 'only what is inside the viewport' })),
    urls: Type.Optional(Type.Boolean({ description: 'print where links lead' })),
    boxes: Type.Optional(Type.Boolean({ description: 'print boxes in CSS pixels' })),
  },
  { additionalProperties: false },
);

const SnapshotResult = Type.Object({
  id: Type.String(),
  tab: Type.String(),
  url: Type.String({ 'x-untrusted': true }),
  title: Type.String({ 'x-untrusted': true }),
  text: Type.String({ 'x-untrusted': true }),
  truncated: Type.Boolean(),
  total: Type.Integer({ description: 'characters of the whole snapshot' }),
});

const snapshot = defineOperation({
  name: 'snapshot',
  method: 'GET',
  path: '/v1/sessions/{id}/snapshot',
  summary: 'The page as text, with refs (e12) for what can be acted on',
  tag: 'reading',
  scope: 'page',
  input: SnapshotInput,
  result: SnapshotResult,
  errors: ['invalid_target', 'target_not_found'],
  text: (result: Static<typeof SnapshotResult>) =>
    `page ${result.tab} ${result.url} ${JSON.stringify(result.title)} snapshot=${result.id}\n${result.text}\n`,
  async run({ op }, { selector, ...options }) {
    const taken = await takeSnapshot(op, {
      ...options,
      ...(selector === undefined ? {} : { root: { selector } }),
    });
    return {
      id: 's1',
      tab: op.tab.id,
      url: taken.url,
      title: taken.title,
      text: taken.text,
      truncated: false,
      total: taken.text.length,
    };
  },
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

export const readingOperations = [snapshot, screenshotOperation];
