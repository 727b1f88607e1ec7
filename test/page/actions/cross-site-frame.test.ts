import { expect, test } from 'vitest';
import { check } from '../../../src/page/actions/check.ts';
import { click } from '../../../src/page/actions/click.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { hover } from '../../../src/page/actions/hover.ts';
import { press } from '../../../src/page/actions/press.ts';
import { type } from '../../../src/page/actions/type.ts';
import { resolveTarget } from '../../../src/page/resolve-target.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const BODY = `<body style="margin:0"><button id=b onclick="h.push('b')" style="margin:20px">Go</button><input id=i><input id=c type=checkbox>
  <div style="height:1200px"></div><button id=d onclick="h.push('d')">Deep</button><script>h=[];onmousedown=e=>h.push('m:'+e.target.id)</script>`;
const page = new ActionPage({
  '/in': BODY,
  '/mid': `<body style="margin:0"><p>mid</p><iframe name=inner src="/in?deep" style="width:280px;height:150px;border:7px solid red;padding:3px"></iframe>`,
  '/cross': `<div style="height:1500px"></div><iframe name=x src="CROSS/in?cross" style="width:300px;height:200px;border:5px solid;padding:9px"></iframe><div style="height:1500px"></div>`,
  '/same': `<div style="height:1500px"></div><iframe name=x src="/in?same" style="width:300px;height:200px;border:5px solid"></iframe>`,
  '/nested': `<div style="height:1500px"></div><iframe name=x src="CROSS/mid" style="width:320px;height:220px"></iframe>`,
  '/scaled': `<iframe name=x src="CROSS/in" style="width:400px;height:300px;transform:scale(.5) translate(90px,40px);border:3px solid"></iframe>`,
  '/turned': `<iframe name=x src="/in" style="width:300px;height:200px;margin:150px;transform:rotate(30deg) skewX(10deg)"></iframe>`,
  '/turned-cross': `<iframe name=x src="CROSS/in" style="width:300px;height:200px;margin:150px;transform:rotate(30deg)"></iframe>`,
  '/tall': `<iframe name=x src="CROSS/in" style="width:300px;height:2000px"></iframe>`,
  '/covered': `<iframe name=x src="CROSS/in" style="width:300px;height:200px"></iframe>
    <div role=banner aria-label=Cover style="position:fixed;inset:0;background:#ccc" onmousedown="h.push('cover')"></div><script>h=[]</script>`,
  '/boxed': `<div style="height:100px;overflow:auto;width:350px"><div style="height:500px"></div><iframe name=x src="CROSS/in" style="width:300px;height:200px"></iframe></div>`,
});

test.each(['/same', '/cross', '/scaled', '/turned', '/turned-cross', '/tall', '/boxed'])(
  '%s: click, check, hover and keys land in the frame',
  async (path) => {
    await page.goto(path);
    const frame = 'x';
    await page.run((op) => click(op, { target: { selector: '#d', frame } }));
    await page.run((op) => click(op, { target: { selector: '#b', frame } }));
    await page.run((op) => check(op, { target: { selector: '#c', frame } }));
    await page.run((op) => hover(op, { target: { selector: '#d', frame } }));
    await page.run((op) => type(op, { target: { selector: '#i', frame }, text: 'a😀' }));
    await page.run((op) => press(op, { key: 'Backspace' }));
    expect(await page.evalIn('/in', '[h.filter(x => x.length === 1), c.checked, i.value]')).toEqual([
      ['d', 'b'],
      true,
      'a',
    ]);
    expect(await page.evalIn('/in', 'h.filter(x => x.startsWith("m:"))')).toEqual(['m:d', 'm:b', 'm:c']);
    await page.run((op) => fill(op, { target: { selector: '#i', frame }, value: '日本' }));
    expect(await page.evalIn('/in', 'i.value')).toBe('日本');
  },
);

test('a frame inside a cross-site frame', async () => {
  await page.goto('/nested');
  await page.run((op) => click(op, { target: { selector: '#d', frame: 'inner' } }));
  await page.run((op) => click(op, { target: { selector: '#b', frame: 'inner' } }));
  expect(await page.evalIn('deep', 'h')).toEqual(['m:d', 'd', 'm:b', 'b']);
});

test('a ref of a frame acts in that frame, wherever it stands now', async () => {
  await page.goto('/cross');
  const ref = await page.run(async (op) => (await resolveTarget(op, { selector: '#b', frame: 'x' })).ref);
  expect(ref).toMatch(/^f\d+e\d+$/);
  await page.eval('scrollTo(0, 3000)');
  await page.run((op) => click(op, { target: ref }));
  expect(await page.evalIn('/in', 'h')).toEqual(['m:b', 'b']);
});

test('a cover in the parent is found and named, and nothing is clicked', async () => {
  await page.goto('/covered');
  const error = await problem(
    page.run((op) => click(op, { target: { selector: '#b', frame: 'x' } })),
    'covered',
  );
  expect(error.extra['coveredBy']).toMatchObject({ role: 'banner', name: 'Cover' });
  expect(await page.eval('h')).toEqual([]);
  expect(await page.evalIn('/in', 'h')).toEqual([]);
});

test('a frame is named by its name, its URL, a part of it, its label, or the ref of its iframe', async () => {
  await page.goto('/cross');
  const owner = await page.run(async (op) => (await resolveTarget(op, 'iframe')).ref);
  const label = `f${page.tab.frames.list()[1]?.ordinal}`;
  for (const frame of ['x', page.server.url('/in?cross', 'localhost'), '?cross', label, owner]) {
    await page.run((op) => click(op, { target: { selector: '#b', frame } }));
  }
  expect(await page.evalIn('/in', 'h.filter(x => x === "b").length')).toBe(5);
  const error = await problem(
    page.run((op) => click(op, { target: { selector: '#b', frame: 'nope' } })),
    'frame_not_found',
  );
  expect(error.extra['frames']).toMatchObject([{ id: 'main' }, { id: label, name: 'x' }]);
});

test('a frame that is not laid out, or goes away while one waits, is an error', async () => {
  for (const path of ['/cross', '/same']) {
    await page.goto(path);
    const target = { selector: '#b', frame: 'x' };
    await page.eval('document.querySelector("iframe").style.display = "none"');
    await problem(
      page.run((op) => click(op, { target }), { timeoutMs: 4000 }),
      'not_interactable',
    );
    await page.eval('document.querySelector("iframe").style.display = ""');
    await page.evalIn('/in', 'b.disabled = true');
    await page.eval('void setTimeout(() => document.querySelector("iframe").remove(), 300)');
    await problem(
      page.run((op) => click(op, { target })),
      'frame_not_found',
    );
  }
});

test('a frame that is shown in time is waited for', async () => {
  for (const path of ['/cross', '/same']) {
    await page.goto(path);
    await page.eval('document.querySelector("iframe").style.display = "none"');
    await page.eval('void setTimeout(() => { document.querySelector("iframe").style.display = "" }, 700)');
    const done = await page.run((op) => click(op, { target: { selector: '#b', frame: 'x' } }));
    expect(done.ok).toBe(true);
  }
});

test('a frame that vanishes before the action is an error', async () => {
  await page.goto('/cross');
  const ref = await page.run(async (op) => (await resolveTarget(op, { selector: '#b', frame: 'x' })).ref);
  await page.eval('document.querySelector("iframe").remove()');
  await problem(
    page.run((op) => click(op, { target: ref })),
    'stale_ref',
  );
});
