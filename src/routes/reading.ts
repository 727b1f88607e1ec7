import { Type } from 'typebox';
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

export const readingOperations = [snapshotOperation, screenshotOperation];
