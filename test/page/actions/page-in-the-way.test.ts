import { expect, test } from 'vitest';
import { check } from '../../../src/page/actions/check.ts';
import { click } from '../../../src/page/actions/click.ts';
import { fill } from '../../../src/page/actions/fill.ts';
import { press } from '../../../src/page/actions/press.ts';
import { type } from '../../../src/page/actions/type.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<button id=b onclick="n++">plain</button><button id=spin onclick="while(1);">Spin</button>
    <button id=rm onmousedown="this.remove()" onclick="n++">Removes itself</button>
    <button id=away onmousedown="this.style.marginLeft='400px'" onclick="n++">Moves away</button>
    <button id=up onmouseup="this.remove()" onclick="n++">Goes at last</button>
    <button id=stop onclick="n++">Stopped</button><input id=gone oninput="this.remove()"><input id=refuse oninput="this.value='mine'">
    <input id=none onkeydown="return false"><input id=unfocus onfocus="this.blur()"><script>n=0</script>`,
  '/hostile': `<form id=f><input name=isConnected><input name=getBoundingClientRect><input name=focus><input name=closest><input name=ownerDocument>
      <input id=i name=value><button id=b name=click type=button onclick="n++">Go</button><input id=c type=checkbox name=checked></form>
    <img name=elementFromPoint><img name=activeElement><script>n=0;bad=()=>{throw new Error('no')}
    for(const k of ['getBoundingClientRect','getClientRects','closest','matches','scrollIntoView','checkVisibility'])Element.prototype[k]=bad
    for(const k of ['isConnected','getRootNode','contains'])Object.defineProperty(Node.prototype,k,{get:bad})
    for(const [o,k] of [[HTMLInputElement.prototype,'value'],[HTMLInputElement.prototype,'checked'],[Document.prototype,'activeElement'],[Event.prototype,'isTrusted'],[Event.prototype,'composedPath']])Object.defineProperty(o,k,{get:bad,set:bad,configurable:true})
    HTMLElement.prototype.focus=bad;Document.prototype.elementFromPoint=bad;JSON.stringify=bad;Array.prototype.map=bad;Promise.prototype.then=bad;Promise=bad;globalThis.requestAnimationFrame=bad;globalThis.getComputedStyle=bad;globalThis.setTimeout=bad;MessageChannel=bad;performance.now=bad;Map=bad;Set=bad</script>`,
  '/capture': `<button id=b onclick="n++">Go</button><script>n=0;for(const t of ['pointerdown','mousedown','pointerup','mouseup','click'])addEventListener(t,e=>e.stopImmediatePropagation(),true)</script>`,
});
const short = { timeoutMs: 4000 };

test('a node that is removed while the button is down was not clicked', async () => {
  await page.goto();
  const error = await problem(
    page.run((op) => click(op, { target: '#rm' })),
    'not_verified',
  );
  expect(error.message).toContain('removed');
  await problem(
    page.run((op) => click(op, { target: '#away' })),
    'not_verified',
  );
  await problem(
    page.run((op) => click(op, { target: '#up' })),
    'not_verified',
  );
  expect(await page.eval('n')).toBe(0);
});

test('a handler that never returns ends in a timeout, and the next page works', async () => {
  await page.goto();
  await problem(
    page.run((op) => click(op, { target: '#spin' }), short),
    'timeout',
  );
  await problem(
    page.run((op) => click(op, { target: '#b' }), { timeoutMs: 1000 }),
    'timeout',
  );
  await page.tab.session.send('Runtime.terminateExecution');
  await page.goto();
  await page.run((op) => click(op, { target: '#b' }));
  expect(await page.eval('n')).toBe(1);
});

test('a field that the page removes, resets, locks or unfocuses is an error', async () => {
  await page.goto();
  await problem(
    page.run((op) => fill(op, { target: '#gone', value: 'x' })),
    'not_verified',
  );
  const reset = await problem(
    page.run((op) => fill(op, { target: '#refuse', value: 'x' })),
    'not_verified',
  );
  expect(reset.extra).toMatchObject({ expected: 'x', actual: 'mine' });
  await problem(
    page.run((op) => type(op, { target: '#none', text: 'x' })),
    'not_verified',
  );
  await problem(
    page.run((op) => fill(op, { target: '#unfocus', value: 'x' })),
    'not_interactable',
  );
});

test('a page with named fields and broken prototypes changes nothing of how actions work', async () => {
  await page.goto('/hostile');
  await page.run((op) => click(op, { target: '#b' }));
  await page.run((op) => fill(op, { target: '#i', value: 'text' }));
  await page.run((op) => type(op, { target: '#i', text: ' more' }));
  await page.run((op) => press(op, { target: '#i', key: 'Backspace' }));
  await page.run((op) => check(op, { target: '#c' }));
  expect(await page.eval('n')).toBe(1);
  const { value } = (await page.run((op) => type(op, { target: '#i', text: '!' }))) as { value?: string };
  expect(value).toBe('text mor!');
});

test('a page that keeps every event from everybody is not clicked', async () => {
  await page.goto('/capture');
  await problem(
    page.run((op) => click(op, { target: '#b' })),
    'not_verified',
  );
  expect(await page.eval('n')).toBe(0);
});

test('a renderer that dies ends the action at once', async () => {
  await page.goto();
  await page.eval('b.disabled = true');
  const waiting = problem(
    page.run((op) => click(op, { target: '#b' }), { timeoutMs: 60_000 }),
    'page_crashed',
  );
  page.tab.session.send('Page.crash').catch(() => undefined);
  await waiting;
  await page.goto();
  await page.run((op) => click(op, { target: '#b' }));
  expect(await page.eval('n')).toBe(1);
});
