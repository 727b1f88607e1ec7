import { inflateSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../../src/page/eval/evaluate.ts';
import { navigate } from '../../src/page/navigate.ts';
import { type ScreenshotInput, screenshot } from '../../src/page/screenshot.ts';
import { PageHarness, PageServer } from '../support/page-harness.ts';
import { problemOf } from '../support/problem-of.ts';

const server = await PageServer.open({
  '/': `<style>body { margin: 0 } div { position: absolute; width: 100px; height: 100px }</style>
    <div style="left: 0; top: 0; background: rgb(255, 0, 0)"></div>
    <div style="left: 100px; top: 2000px; background: rgb(0, 0, 255)"></div>`,
  '/elements': `<body style="margin: 0"><div style="width: 300px; height: 100px; overflow: auto; position: absolute; top: 1500px">
      <p id=deep style="margin: 900px 0 0 20px; width: 30px; height: 40px; background: rgb(0, 255, 0)"></p></div>
    <p id=hidden style="display: none"></p><p class=two>a</p><p class=two>b</p>
    <iframe style="border: 7px solid; position: absolute; top: 3000px; left: 11px" src="/cross"></iframe>`,
  '/cross': (request, response) => {
    const { port } = new URL(`http://${request.headers.host}/`);
    response.writeHead(302, { location: `http://localhost:${port}/in` }).end();
  },
  '/in':
    '<body style="margin: 0"><p id=in style="margin: 500px 0 0 5px; width: 9px; height: 8px; background: rgb(1, 2, 3)"></p>',
  '/huge':
    '<body style="margin: 0"><div style="width: 100px; height: 200000px; background: linear-gradient(red, blue)"></div>',
});
const chrome = await PageHarness.open();
afterAll(async () => {
  await chrome[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const shoot = (input: ScreenshotInput) => chrome.run((op) => screenshot(op, input), { timeoutMs: 30_000 });

/** Red, green, blue and alpha of a pixel of a PNG; filters of a row are undone as the standard says (section 9). */
function pixel(png: Buffer, x: number, y: number): number[] {
  const width = png.readUInt32BE(16);
  const channels = png[25] === 6 ? 4 : 3;
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  let above = new Uint8Array(stride);
  for (let row = 0; row <= y; row++) {
    const filter = raw[row * (stride + 1)];
    const line = new Uint8Array(stride);
    for (let i = 0; i < stride; i++) {
      const left = i < channels ? 0 : (line[i - channels] ?? 0);
      const up = above[i] ?? 0;
      const corner = i < channels ? 0 : (above[i - channels] ?? 0);
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0;
      line[i] = (raw[row * (stride + 1) + 1 + i] ?? 0) + predicted;
    }
    above = line;
  }
  const found = [...above.subarray(x * channels, (x + 1) * channels)];
  return channels === 4 ? found : [...found, 255];
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(estimate - value));
  if (a === undefined || b === undefined || c === undefined) throw new Error('three values');
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

test('what is in view, as PNG, in the size that is told', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }));
  const { value } = await chrome.run((op) => evaluate(op, { expression: '[innerWidth, innerHeight]' }));
  const image = await shoot({});
  expect(image.contentType).toBe('image/png');
  expect([image.width, image.height]).toEqual(value);
  expect(pixel(image.bytes, 50, 50)).toEqual([255, 0, 0, 255]);
  expect(pixel(image.bytes, 150, 50)).toEqual([255, 255, 255, 255]);
});

test('what is in view after scrolling', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }));
  await chrome.run((op) => evaluate(op, { expression: 'scrollTo(0, 5000)' }));
  const { value: top } = await chrome.run((op) => evaluate(op, { expression: 'scrollY' }));
  expect(pixel((await shoot({})).bytes, 150, 2050 - Number(top))).toEqual([0, 0, 255, 255]);
});

test('the whole page, and a part of it that is out of view', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }));
  const whole = await shoot({ fullPage: true });
  expect(whole.height).toBe(2100);
  expect(pixel(whole.bytes, 150, 2050)).toEqual([0, 0, 255, 255]);

  const part = await shoot({ clip: { x: 90, y: 2010, width: 20, height: 10 } });
  expect([part.width, part.height]).toEqual([20, 10]);
  expect(pixel(part.bytes, 5, 5)).toEqual([255, 255, 255, 255]);
  expect(pixel(part.bytes, 15, 5)).toEqual([0, 0, 255, 255]);
});

test('an element, wherever it is: scrolled away, or in a frame of another process', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/elements') }));
  const deep = await shoot({ selector: '#deep' });
  expect([deep.width, deep.height]).toEqual([30, 40]);
  for (const [x, y] of [
    [0, 0],
    [29, 39],
  ] as const) {
    expect(pixel(deep.bytes, x, y)).toEqual([0, 255, 0, 255]);
  }
  const found = await chrome.run((op) =>
    evaluate(op, { expression: 'document.querySelector("#in")', frame: 'localhost' }),
  );
  const inside = await shoot({ ref: (found.value as { ref: string }).ref });
  expect([inside.width, inside.height]).toEqual([9, 8]);
  expect(pixel(inside.bytes, 0, 0)).toEqual([1, 2, 3, 255]);
  expect(pixel(inside.bytes, 8, 7)).toEqual([1, 2, 3, 255]);
});

test.each([
  [{ selector: '#nothing' }, 'target_not_found'],
  [{ selector: '.two' }, 'ambiguous_target'],
  [{ selector: '#hidden' }, 'not_interactable'],
  [{ ref: 'e99999' }, 'target_not_found'],
])('%o is %s', async (input, code) => {
  await chrome.run((op) => navigate(op, { url: server.url('/elements') }));
  expect((await problemOf(shoot(input))).code).toBe(code);
});

test.each([
  ['jpeg', 'image/jpeg', [0xff, 0xd8]],
  ['webp', 'image/webp', [0x52, 0x49]],
] as const)('%s, scaled, with a quality', async (format, contentType, magic) => {
  const clip = { x: 0, y: 0, width: 50, height: 40 };
  const image = await shoot({ format, clip, scale: 2, quality: 60 });
  expect(image).toMatchObject({ contentType, width: 100, height: 80 });
  expect([...image.bytes.subarray(0, 2)]).toEqual(magic);
});

test('without its background, and with it again afterwards', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }));
  const clip = { x: 0, y: 0, width: 200, height: 10 };
  const bare = await shoot({ clip, omitBackground: true });
  expect(pixel(bare.bytes, 150, 5)).toEqual([0, 0, 0, 0]);
  expect(pixel(bare.bytes, 50, 5)).toEqual([255, 0, 0, 255]);
  expect((await shoot({ clip, omitBackground: true, format: 'webp' })).width).toBe(200);
  expect(pixel((await shoot({ clip })).bytes, 150, 5)).toEqual([255, 255, 255, 255]);
});

test('an image that would be too large is refused with its size, and a smaller scale is not', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/huge') }));
  expect(await problemOf(shoot({ fullPage: true }))).toMatchObject({
    code: 'too_large',
    extra: { height: 200_000, maxSide: expect.any(Number) },
  });
  expect((await problemOf(shoot({ clip: { x: 0, y: 0, width: 16_000, height: 16_000 } }))).code).toBe(
    'too_large',
  );
  const small = await shoot({ fullPage: true, scale: 0.05 });
  expect(small.height).toBe(10_000);
});

test.each<[ScreenshotInput, string]>([
  [{ quality: 50 }, '/quality'],
  [{ format: 'jpeg', omitBackground: true }, '/omitBackground'],
  [{ fullPage: true, clip: { x: 0, y: 0, width: 1, height: 1 } }, '/clip'],
  [{ fullPage: true, selector: 'p' }, '/clip'],
])('%o is refused', async (input, pointer) => {
  expect(await problemOf(shoot(input))).toMatchObject({ code: 'invalid_request', extra: { pointer } });
});

test('behind a dialog it ends at once, and works when the dialog is closed', async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }));
  await problemOf(chrome.run((op) => evaluate(op, { expression: 'alert(1)' })));
  expect((await problemOf(shoot({}))).code).toBe('dialog_open');
  await chrome.tab.answerDialog(true);
  expect((await shoot({})).width).toBeGreaterThan(0);
});
