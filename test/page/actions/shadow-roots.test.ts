import { expect, test } from 'vitest';
import { check } from '../../../src/page/actions/check.ts';
import { click } from '../../../src/page/actions/click.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { type } from '../../../src/page/actions/type.ts';
import { snapshot } from '../../../src/page/snapshot/snapshot.ts';
import { ActionPage } from '../../support/action-page.ts';

const part = (
  mode: string,
) => `<x-a><span slot=b>Second</span><button slot=a id=slotted onclick="h.push('slotted')">First</button></x-a>
  <script>h=[];customElements.define("x-a",class extends HTMLElement{constructor(){super();const r=this.attachShadow({mode:"${mode}"});
  r.innerHTML='<button class=in>In root</button><input placeholder=Pw><label><input type=checkbox style="opacity:0;position:absolute"><i>Box</i></label><div class=wrap><slot name=a>unused</slot></div><slot name=b></slot><x-b></x-b>';
  r.querySelector("button").onclick=()=>h.push('in');this.value=()=>[r.querySelector('input').value,r.querySelector('[type=checkbox]').checked];r.querySelector('.wrap').onclick=()=>h.push('wrap')}});
  customElements.define("x-b",class extends HTMLElement{constructor(){super();const r=this.attachShadow({mode:"${mode}"});r.innerHTML='<button>Deeper</button>';r.firstChild.onclick=()=>h.push('deeper')}})</script>`;
const page = new ActionPage({ '/open': part('open'), '/closed': part('closed') });

const refs = async () => {
  const { text } = await page.run((op) => snapshot(op, {}));
  return (name: string) =>
    new RegExp(`"${name}"[^\\n]*\\[ref=(e\\d+)\\]`).exec(text)?.[1] ?? `no ref of ${name} in\n${text}`;
};

test.each(['/open', '/closed'])('%s shadow roots: refs of a snapshot can be acted on', async (path) => {
  await page.goto(path);
  const ref = await refs();
  await page.run((op) => click(op, { target: ref('In root') }));
  await page.run((op) => click(op, { target: ref('Deeper') }));
  await page.run((op) => click(op, { target: ref('First') }));
  await page.run((op) => fill(op, { target: ref('Pw'), value: 'x' }));
  await page.run((op) => type(op, { target: ref('Pw'), text: 'y' }));
  await page.run((op) => check(op, { target: ref('Box') }));
  expect(await page.eval('h')).toEqual(['in', 'deeper', 'slotted', 'wrap']);
  expect(await page.eval('document.querySelector("x-a").value()')).toEqual(['xy', true]);
});

test.each(['/open', '/closed'])(
  '%s shadow roots: selectors, roles and labels see into them',
  async (path) => {
    await page.goto(path);
    await page.run((op) => click(op, { target: '.in' }));
    await page.run((op) => click(op, { target: { role: 'button', name: 'Deeper' } }));
    await page.run((op) => fill(op, { target: { placeholder: 'Pw' }, value: 'z' }));
    expect(await page.eval('[h, document.querySelector("x-a").value()[0]]')).toEqual([['in', 'deeper'], 'z']);
  },
);

test('a part of a root that holds slotted content is hit through it', async () => {
  await page.goto('/open');
  await page.run((op) => click(op, { target: '.wrap' }));
  expect(await page.eval('h.at(-1)')).toBe('wrap');
});
