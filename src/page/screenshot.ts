import Type, { type Static } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { Protocol } from './cdp.ts';
import { elementArea } from './element-clip.ts';
import { imageSize } from './image-size.ts';
import type { Operation } from './operation.ts';
import { timeBox } from './time-box.ts';
import { evaluateValue, isolatedWorld } from './world.ts';

export const Clip = Type.Object(
  {
    x: Type.Number({ description: 'CSS pixels from the left edge of the document.' }),
    y: Type.Number({ description: 'CSS pixels from the top edge of the document.' }),
    width: Type.Number({ exclusiveMinimum: 0 }),
    height: Type.Number({ exclusiveMinimum: 0 }),
  },
  { additionalProperties: false },
);
export type Clip = Static<typeof Clip>;

export const ScreenshotInput = Type.Object(
  {
    format: Type.Optional(Type.Union([Type.Literal('png'), Type.Literal('jpeg'), Type.Literal('webp')])),
    quality: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100, description: 'JPEG and WebP only. Default 80.' }),
    ),
    fullPage: Type.Optional(Type.Boolean({ description: 'The whole document, not only what is in view.' })),
    clip: Type.Optional(Clip),
    selector: Type.Optional(Type.String({ minLength: 1, description: 'Only this element, by CSS.' })),
    ref: Type.Optional(Type.String({ minLength: 1, description: 'Only this element, by its ref.' })),
    omitBackground: Type.Optional(
      Type.Boolean({ description: 'Transparent where the page paints no background. PNG and WebP only.' }),
    ),
    scale: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 4, description: 'Default 1.' })),
  },
  { additionalProperties: false },
);
export type ScreenshotInput = Static<typeof ScreenshotInput>;

export interface Screenshot {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Of the image, in its own pixels. */
  readonly width: number;
  readonly height: number;
}

/** Larger than this Chrome's compositor gives a blank or repeated image (texture limit). */
const MAX_SIDE = 16_384;

/** 64 megapixels are 256 MiB of bitmap in the browser, and more again while they are encoded. */
const MAX_PIXELS = 64 * 1024 * 1024;

/** How long a frame of another process is waited for. */
const DRAWN_MS = 500;

/** How long undoing the background may take; a busy page does it when it is free again. */
const UNDO_MS = 500;

/**
 * An image of the page: what is in view, the whole document, an area of it, or an element (which is scrolled into view).
 * @throws AirlockError `invalid_request`, `too_large`, `dialog_open`, `timeout`; for an element also `target_not_found`,
 * `ambiguous_target`, `stale_ref`, `not_interactable`
 */
export async function screenshot(op: Operation, input: ScreenshotInput): Promise<Screenshot> {
  const format = input.format ?? 'png';
  checkOptions(input, format);
  const area = (await areaOf(op, input)) ?? input.clip;
  const clip = await clipFor(op, input, area);
  const params: Protocol.Page.CaptureScreenshotRequest = {
    format,
    ...(format !== 'png' && { quality: input.quality ?? 80 }),
    // Without a clip Chrome gives the whole view; its own measure of it leaves out the scroll bars.
    ...((area || input.fullPage || clip.scale !== 1) && { clip }),
    captureBeyondViewport: input.fullPage === true || area !== undefined,
  };
  await framesDrawn(op);
  const { data } = await withBackground(op, input.omitBackground === true, () =>
    op.main('Page.captureScreenshot', params),
  );
  const bytes = Buffer.from(data, 'base64');
  return { bytes, contentType: `image/${format}`, ...imageSize(bytes) };
}

/**
 * Frames of other processes draw on their own time, and Chrome takes the image without those that have not yet: white. Two
 * frames of theirs, the second of which begins when the first is drawn. One out of view draws none, a busy one later.
 */
async function framesDrawn(op: Operation): Promise<void> {
  const { tab } = op;
  const apart = tab.frames.list().filter(({ session }) => session && session !== tab.session);
  const drawn = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))';
  await Promise.all(
    apart.map((frame) => {
      const seen = isolatedWorld(op, frame).then((world) => evaluateValue(op, world, drawn));
      return timeBox(
        seen.catch(() => undefined), // a frame that goes meanwhile is in no image
        DRAWN_MS,
      );
    }),
  );
}

function checkOptions(input: ScreenshotInput, format: string): void {
  const { fullPage, clip, selector, ref } = input;
  if ([fullPage || undefined, clip, selector, ref].filter((way) => way !== undefined).length > 1) {
    throw invalid('/clip', 'fullPage, clip, selector and ref exclude each other');
  }
  if (format === 'png' && input.quality !== undefined) throw invalid('/quality', 'PNG has no quality');
  if (format === 'jpeg' && input.omitBackground) throw invalid('/omitBackground', 'JPEG has no transparency');
}

async function areaOf(op: Operation, { selector, ref }: ScreenshotInput): Promise<Clip | undefined> {
  if (selector !== undefined) return elementArea(op, { selector });
  return ref === undefined ? undefined : elementArea(op, { ref });
}

function invalid(pointer: string, detail: string): AirlockError {
  return new AirlockError('invalid_request', `${pointer}: ${detail}`, { extra: { pointer } });
}

async function clipFor(
  op: Operation,
  input: ScreenshotInput,
  area: Clip | undefined,
): Promise<Protocol.Page.Viewport> {
  const scale = input.scale ?? 1;
  const metrics = await op.main('Page.getLayoutMetrics');
  const view = metrics.cssVisualViewport;
  const content = metrics.cssContentSize;
  const box =
    area ??
    (input.fullPage
      ? { x: 0, y: 0, width: content.width, height: content.height }
      : { x: view.pageX, y: view.pageY, width: view.clientWidth, height: view.clientHeight });
  // Device pixels to CSS pixels; the old members are in device pixels where the screen has a ratio.
  const ratio = metrics.cssLayoutViewport.clientWidth
    ? metrics.layoutViewport.clientWidth / metrics.cssLayoutViewport.clientWidth
    : 1;
  checkSize(Math.ceil(box.width * scale * ratio), Math.ceil(box.height * scale * ratio));
  return { ...box, scale };
}

function checkSize(width: number, height: number): void {
  if (width <= MAX_SIDE && height <= MAX_SIDE && width * height <= MAX_PIXELS) return;
  throw new AirlockError(
    'too_large',
    `The image would be ${width} × ${height} pixels; the limit is ${MAX_SIDE} a side and ${MAX_PIXELS} in all. ` +
      'Use clip or a smaller scale.',
    { extra: { width, height, maxSide: MAX_SIDE, maxPixels: MAX_PIXELS } },
  );
}

async function withBackground<T>(op: Operation, omit: boolean, work: () => Promise<T>): Promise<T> {
  if (!omit) return work();
  await op.main('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } });
  try {
    return await work();
  } finally {
    await timeBox(op.tab.session.send('Emulation.setDefaultBackgroundColorOverride', {}), UNDO_MS);
  }
}
