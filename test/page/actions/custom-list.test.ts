import { expect, test } from 'vitest';
import { fill } from '../../../src/page/actions/fill.ts';
import { select } from '../../../src/page/actions/select.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<div id=c role=combobox tabindex=0 aria-expanded=false aria-controls=lb onclick="setTimeout(open2,60)">Pick</div>
    <ul id=lb role=listbox hidden><li role=option aria-selected=false>Red<li role=option aria-selected=false>Green<li role=option aria-disabled=true>Blue</ul>
    <ul id=m role=listbox aria-multiselectable=true aria-label=Many><li role=option aria-selected=true>One<li role=option aria-selected=false>Two<li role=option aria-selected=false>Three</ul>
    <button id=dead>dead</button><ul id=stuck role=listbox aria-label=Stuck><li role=option aria-selected=false>x</ul>
    <script>open2=()=>{lb.hidden=false;c.ariaExpanded='true'};n=0
    lb.onclick=e=>{if(e.target.ariaDisabled)return;n++;for(const o of lb.children)o.ariaSelected=o===e.target;c.textContent=e.target.textContent;lb.hidden=true;c.ariaExpanded='false'}
    onkeydown=e=>{if(e.key==='Escape')lb.hidden=true};m.onclick=e=>e.target.ariaSelected=e.target.ariaSelected!=='true'</script>`,
});

test('a combobox is opened, and its option chosen by label', async () => {
  await page.goto();
  const result = await page.run((op) => select(op, { target: '#c', labels: 'Green' }));
  expect(result.selected).toEqual(['Green']);
  expect(await page.eval('[c.textContent, n]')).toEqual(['Green', 1]);
});

test('an option that is not there fails with those that are, and the list is closed again', async () => {
  await page.goto();
  const none = await problem(
    page.run((op) => select(op, { target: '#c', labels: 'Pink' })),
    'option_not_found',
  );
  expect(none.extra['options']).toMatchObject([
    { label: 'Red' },
    { label: 'Green' },
    { label: 'Blue', disabled: true },
  ]);
  expect(await page.eval('lb.hidden')).toBe(true);
  await problem(
    page.run((op) => select(op, { target: '#c', labels: 'Blue' })),
    'not_interactable',
  );
  expect(await page.eval('[c.textContent, n]')).toEqual(['Pick', 0]);
});

test('a list of several holds exactly what was asked for', async () => {
  await page.goto();
  await page.run((op) => select(op, { target: '#m', labels: ['Two', 'Three'] }));
  expect(await page.eval('[...m.children].map(o => o.ariaSelected)')).toEqual(['false', 'true', 'true']);
});

test('what is no list, and a list that does not take the choice, are errors', async () => {
  await page.goto();
  await page.eval('m.remove(); stuck.remove()');
  await problem(
    page.run((op) => select(op, { target: '#dead', labels: 'x' })),
    'not_interactable',
  );
  await page.goto();
  await problem(
    page.run((op) => select(op, { target: '#stuck', labels: 'x' })),
    'not_verified',
  );
  await problem(
    page.run((op) => fill(op, { target: '#c', value: 'Red' })),
    'not_editable',
  );
});
