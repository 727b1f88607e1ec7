import { expect, test } from 'vitest';
import { readHtml, readText } from '../../../src/page/reading/content.ts';
import { listFrames } from '../../../src/page/reading/frames.ts';
import { readLinks } from '../../../src/page/reading/links.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<title>Frames</title><iframe name=same src="/inner?same"></iframe><iframe name=cross src="CROSS/inner?cross"></iframe>
    <iframe name=doc srcdoc="<p>inline</p>"></iframe><iframe name=box sandbox srcdoc="<p>boxed</p>"></iframe><iframe name=data src="data:text/html,<p>data"></iframe>`,
  '/inner': '<p>inner</p><iframe srcdoc="<p>deep</p>"></iframe><a href="/x">x</a>',
  '/twins': '<iframe name=deep src="/inner?one"></iframe><iframe name=deep src="/inner?two"></iframe>',
  '/plain': '<iframe name=a src="CROSS/inner?a"></iframe><p>end',
});

test('the list of frames: names, URLs, parents, origins', async () => {
  await page.goto();
  // A frame of another process tells of itself when it does, which may be a little after the load of the page around it.
  await expect.poll(() => listFrames(page.tab).frames.filter(({ name }) => name !== '')).toHaveLength(5);
  const { tab, frames } = listFrames(page.tab);
  const other = page.server.url('/inner?cross', 'localhost');
  const by = (name: string) => frames.find((frame) => frame.name === name);
  expect(tab).toBe('t1');
  expect(frames[0]).toEqual({
    id: 'main',
    name: '',
    url: page.server.url('/'),
    crossOrigin: false,
    outOfProcess: false,
  });
  expect(by('same')).toMatchObject({
    url: page.server.url('/inner?same'),
    parent: 'main',
    crossOrigin: false,
    outOfProcess: false,
  });
  expect(by('cross')).toMatchObject({ url: other, parent: 'main', crossOrigin: true, outOfProcess: true });
  expect(by('doc')).toMatchObject({ url: 'about:srcdoc', crossOrigin: false });
  expect(by('box')).toMatchObject({ url: 'about:srcdoc', crossOrigin: true });
  expect(by('data')).toMatchObject({ parent: 'main', crossOrigin: true });
  const deep = frames.find(({ parent }) => parent === by('cross')?.id);
  expect(deep).toMatchObject({ url: 'about:srcdoc', crossOrigin: true, outOfProcess: false });
  expect(frames).toHaveLength(8);
  for (const { id } of frames) await page.run((op) => readText(op, { frame: id }));
});

test('a frame that is gone is said to be, with those that there are', async () => {
  await page.goto('/plain');
  const id = listFrames(page.tab).frames.find(({ name }) => name === 'a')?.id ?? '';
  await page.eval("document.querySelector('iframe').remove(); 0");
  const error = await problem(
    page.run((op) => readText(op, { frame: id })),
    'frame_not_found',
  );
  expect(error.extra['frames']).toEqual([{ id: 'main', name: '', url: page.server.url('/plain') }]);
});

test('a name that several frames have is ambiguous: those are told, and each can be named', async () => {
  await page.goto('/twins');
  await expect.poll(() => listFrames(page.tab).frames.filter(({ name }) => name === 'deep')).toHaveLength(2);
  const error = await problem(
    page.run((op) => readText(op, { frame: 'deep' })),
    'ambiguous_target',
  );
  const frames = listFrames(page.tab).frames.filter(({ name }) => name === 'deep');
  expect(error.extra).toEqual({
    count: 2,
    frames: frames.map(({ id, url }) => ({ id, name: 'deep', url })),
  });
  for (const { id } of frames) {
    expect(error.message).toContain(id);
    await page.run((op) => readText(op, { frame: id }));
  }
});

test('frames that come and go while a page is read do not make it fail', async () => {
  await page.goto('/plain');
  await page.eval(`window.churn = setInterval(() => { document.querySelector('iframe')?.remove();
    const f = document.createElement('iframe'); f.src = ${JSON.stringify(page.server.url('/inner?churn', 'localhost'))}; document.body.prepend(f); }, 3); 0`);
  for (let i = 0; i < 15; i++) {
    const { content } = await page.run((op) => readText(op, {}));
    expect(content).toMatch(/^(inner\n+deep\n+x\n*|inner\n+x\n*)?end$/);
    await page.run((op) => readLinks(op, {}));
  }
  await page.eval('clearInterval(churn)');
});

test('a frame is read as HTML by itself, and stays an element in that of the page', async () => {
  await page.goto('/plain');
  const inner = await page.run((op) => readHtml(op, { frame: 'a' }));
  expect(inner.content).toMatch(/^<!DOCTYPE html><html><head><\/head><body><p>inner<\/p>/);
  expect((await page.run((op) => readHtml(op, {}))).content).toContain('<iframe name="a"');
});
