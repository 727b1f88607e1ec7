import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

// `ever` is linear and does not turn round: an eased one rests at its ends for a few frames, and may be used there.
const page = new ActionPage({
  '/': `<style>@keyframes go{from{transform:translateX(0)}to{transform:translateX(400px)}}@keyframes ever{from{margin-left:0}to{margin-left:300px}}@keyframes pulse{from{opacity:1}to{opacity:.5}}</style>
    <button id=slide style="animation:go .6s linear" onclick="h.push(this.getAnimations().length)">slide</button><br>
    <button id=ever style="animation:ever 1s linear infinite" onclick="h.push('ever')">ever</button><br>
    <button id=pulse style="animation:pulse .5s infinite alternate" onclick="h.push('pulse')">pulse</button>
    <button id=dis disabled onclick="h.push('dis')">disabled</button><button id=aria aria-disabled=true onclick="h.push('aria')">aria</button>
    <fieldset disabled><button id=fs onclick="h.push('fs')">fieldset</button><legend><button id=leg onclick="h.push('leg')">legend</button></legend></fieldset>
    <button id=none style="display:none">none</button><button id=vis style="visibility:hidden">vis</button><div style="display:none"><button id=anc>anc</button></div>
    <button id=zero style="width:0;height:0;padding:0;border:0;overflow:hidden" onclick="h.push('zero')"></button><div inert><button id=inert>inert</button></div>
    <button id=off style="position:fixed;left:-500px" onclick="h.push('off')">off</button>
    <button id=clear style="opacity:0" onclick="h.push('clear')">transparent</button>
    <div style="width:100px;overflow:hidden;white-space:nowrap"><span style="display:inline-block;width:300px">wide</span><button id=side onclick="h.push('side')">side</button></div><script>h=[]</script>`,
});
const short = { timeoutMs: 4000 };
const state = async (target: string) => {
  await page.goto();
  const error = await problem(
    page.run((op) => click(op, { target }), short),
    'not_interactable',
  );
  expect(await page.eval('h')).toEqual([]);
  return error.extra['state'];
};

test('a moving element is clicked when it has come to rest', async () => {
  await page.goto();
  await page.run((op) => click(op, { target: '#slide' }));
  expect(await page.eval('h')).toEqual([0]);
});

test.each([
  ['#ever', 'moving'],
  ['#dis', 'disabled'],
  ['#aria', 'disabled'],
  ['#fs', 'disabled'],
  ['#inert', 'disabled'],
  ['#none', 'hidden'],
  ['#vis', 'hidden'],
  ['#anc', 'hidden'],
  ['#zero', 'hidden'],
  ['#off', 'outside'],
])('%s cannot be used: %s', async (target, expected) => {
  expect(await state(target)).toBe(expected);
});

test.each(['pulse', 'leg', 'clear', 'side'])('#%s can be used as it is', async (id) => {
  await page.goto();
  await page.run((op) => click(op, { target: `#${id}` }));
  expect(await page.eval('h')).toEqual([id]);
});

test('what becomes enabled, visible or present in time is waited for', async () => {
  await page.goto();
  await page.eval(
    'setTimeout(() => { dis.disabled = false }, 300); setTimeout(() => { none.style.display = ""; none.onclick = () => h.push("none") }, 900)',
  );
  await page.run((op) => click(op, { target: '#dis' }));
  await page.run((op) => click(op, { target: '#none' }));
  await page.eval(
    `setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button id=new onclick="h.push(this.id)">new</button>'), 300)`,
  );
  await page.run((op) => click(op, { target: '#new' }));
  expect(await page.eval('h')).toEqual(['dis', 'none', 'new']);
});

test('of a short time, too, nearly all is waited', async () => {
  await page.goto();
  await page.eval('void setTimeout(() => { dis.disabled = false }, 200)');
  await page.run((op) => click(op, { target: '#dis' }), { timeoutMs: 600 });
  expect(await page.eval('h')).toEqual(['dis']);
});
