import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { hover } from '../../../src/page/actions/hover.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const COVER = 'position:fixed;inset:0;background:#0008';
const page = new ActionPage({
  '/': `<button id=b onclick="h.push('b')">Go</button><div id=v role=dialog aria-label="Cookies" style="${COVER}" onclick="h.push('v')"></div><script>h=[]</script>`,
  '/modal': `<button id=b onclick="h.push('b')">Go</button><dialog id=d aria-label=Stop>stop</dialog><script>h=[];d.showModal()</script>`,
  '/half': `<button id=b style="width:200px;height:60px" onclick="h.push('b')">Go</button>
    <div style="position:absolute;left:60px;top:0;width:100px;height:100px;background:#ccc" onclick="h.push('cover')"></div><script>h=[]</script>`,
  '/inline': `<div style="width:120px"><a id=a href="#hit">first words</a> <span style="position:absolute;left:0;top:0;width:130px;height:26px;background:#ccc"></span>
    <a id=w href="#wrapped">a link that is long enough to be wrapped over lines</a></div>`,
  '/through': `<button id=b onclick="h.push('b')"><span id=s style="pointer-events:none">Go</span></button>
    <div style="${COVER};pointer-events:none"></div><script>h=[]</script>`,
  '/hover': `<button id=b onclick="h.push('b')" onmouseenter="t.hidden=false">Go</button>
    <div id=t hidden style="${COVER}" role=tooltip aria-label=Tip onmousedown="h.push('tip')" onclick="h.push('tip')">tip</div><script>h=[]</script>`,
  '/nested': `<div id=card style="width:300px;height:100px;background:#eee" onclick="h.push(event.target.id)">
    <button id=del style="margin:30px 100px;width:100px;height:40px">Delete</button></div><script>h=[]</script>`,
  '/round': `<svg width=200 height=200><path id=ring d="M100 10 A90 90 0 1 1 99 10" fill=none stroke=red stroke-width=30 onclick="h.push('ring')" style="pointer-events:stroke"></path></svg><script>h=[]</script>`,
  '/empty': `<a id=f href="#f"><div style="float:left;width:80px;height:30px;background:#ccc"></div></a>
    <div id=c style="display:contents" onclick="h.push('c')"><p>inside</div><script>h=[]</script>`,
});
const short = { timeoutMs: 4000 };
const clicked = async (path: string, target: string) => {
  await page.goto(path);
  await page.run((op) => click(op, { target }), short);
  return page.eval('h');
};

test('the answer names what covers, with a ref that can be used', async () => {
  await page.goto();
  const error = await problem(
    page.run((op) => click(op, { target: '#b' }), short),
    'covered',
  );
  expect(error.extra['coveredBy']).toMatchObject({
    role: 'dialog',
    name: 'Cookies',
    ref: expect.stringMatching(/^e\d+$/),
  });
  expect(error.message).toContain('Cookies');
  const { ref } = error.extra['coveredBy'] as { ref: string };
  await page.run((op) => click(op, { target: ref }));
  expect(await page.eval('h')).toEqual(['v']);
});

test('a cover that goes away in time is waited for', async () => {
  await page.goto();
  await page.eval('setTimeout(() => v.remove(), 400)');
  await page.run((op) => click(op, { target: '#b' }));
  expect(await page.eval('h')).toEqual(['b']);
});

test('what is behind a modal dialog is covered by it', async () => {
  await page.goto('/modal');
  const error = await problem(
    page.run((op) => click(op, { target: '#b' }), short),
    'covered',
  );
  expect(error.extra['coveredBy']).toMatchObject({ role: 'dialog' });
  expect(await page.eval('h')).toEqual([]);
});

test('a button whose middle is covered is hit where it is not', async () => {
  expect(await clicked('/half', '#b')).toEqual(['b']);
});

test('a wrapped link is hit on another of its lines', async () => {
  await page.goto('/inline');
  await page.run((op) => click(op, { target: '#w' }), short);
  expect(await page.eval('location.hash')).toBe('#wrapped');
  await problem(
    page.run((op) => click(op, { target: '#a' }), short),
    'covered',
  );
});

test('what lets the pointer through covers nothing, and a see-through part stands for its button', async () => {
  expect(await clicked('/through', '#b')).toEqual(['b']);
  expect(await clicked('/through', '#s')).toEqual(['b']);
});

test('what comes up under the pointer does not get the click', async () => {
  await page.goto('/hover');
  const error = await problem(
    page.run((op) => click(op, { target: '#b' }), short),
    'covered',
  );
  expect(error.extra['coveredBy']).toMatchObject({ name: 'Tip' });
  expect(await page.eval('h')).toEqual([]);
});

test('a control inside the target is avoided', async () => {
  expect(await clicked('/nested', '#card')).toEqual(['card']);
});

test('a ring is hit on the ring', async () => {
  expect(await clicked('/round', '#ring')).toEqual(['ring']);
});

test('elements without a box of their own are hit in what they hold', async () => {
  expect(await clicked('/empty', '#c')).toEqual(['c']);
  await page.run((op) => click(op, { target: '#f' }), short);
  expect(await page.eval('location.hash')).toBe('#f');
});

test('force clicks at the place, and says what was there', async () => {
  await page.goto();
  const result = await page.run((op) => click(op, { target: '#b', force: true }));
  expect(result.hit).toMatchObject({ name: 'Cookies' });
  expect(await page.eval('h')).toEqual(['v']);
});

test('hover is over the element, or an error', async () => {
  await page.goto('/half');
  await page.run((op) => hover(op, { target: '#b' }));
  expect(await page.eval('b.matches(":hover")')).toBe(true);
  await page.goto();
  await problem(
    page.run((op) => hover(op, { target: '#b' }), short),
    'covered',
  );
});
