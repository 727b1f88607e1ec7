import { expect, test } from 'vitest';
import { drag } from '../../../src/page/actions/drag.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/html5': `<div id=d draggable=true style="width:60px;height:40px;background:red">drag</div><div style="height:1500px"></div>
    <div id=z style="width:100px;height:60px;background:#eee">zone</div><div id=no style="width:100px;height:60px;background:#ddd">refuses</div>
    <input id=i style="display:block"><script>h=[];d.ondragstart=e=>{e.dataTransfer.setData('text/plain','D!');e.dataTransfer.setData('application/json','{"a":1}')}
    d.ondragend=e=>h.push('end:'+e.dataTransfer.dropEffect);z.ondragover=e=>e.preventDefault()
    z.ondrop=e=>{e.preventDefault();h.push('drop:'+e.dataTransfer.getData('text/plain')+e.dataTransfer.getData('application/json'))}</script>`,
  '/pointer': `<body style="margin:0"><div id=k style="position:absolute;z-index:1;left:20px;top:20px;width:40px;height:40px;background:red"></div>
    <div id=t style="position:absolute;left:300px;top:200px;width:100px;height:100px;background:#eee"></div><script>
    h=[];k.onpointerdown=e=>{k.setPointerCapture(e.pointerId);const x=e.clientX-k.offsetLeft,y=e.clientY-k.offsetTop
    k.onpointermove=m=>{k.style.left=m.clientX-x+'px';k.style.top=m.clientY-y+'px';h.push(m.buttons)};k.onpointerup=()=>{k.onpointermove=null;h.push('up')}}</script>`,
  '/late': `<div id=d style="width:60px;height:40px;background:red">drag</div><div id=z style="width:100px;height:60px;background:#eee">zone</div>
    <script>h=[];d.onpointerdown=()=>{d.draggable=true};d.ondragstart=e=>e.dataTransfer.setData('text/plain','late');z.ondragover=e=>e.preventDefault();z.ondrop=e=>{e.preventDefault();h.push(e.dataTransfer.getData('text/plain'))}</script>`,
});

test('an HTML5 draggable is dropped with its data, on what has to be scrolled to', async () => {
  await page.goto('/html5');
  const result = await page.run((op) => drag(op, { from: '#d', to: '#z' }));
  expect(result.kind).toBe('html5');
  expect(await page.eval('h')).toEqual(['drop:D!{"a":1}', 'end:copy']);
});

test('text dropped on a field is in it', async () => {
  await page.goto('/html5');
  await page.run((op) => drag(op, { from: '#d', to: '#i' }));
  expect(await page.eval('i.value')).toBe('D!');
});

test('a drop that is not accepted is an error, and the next drag works', async () => {
  await page.goto('/html5');
  const error = await problem(
    page.run((op) => drag(op, { from: '#d', to: '#no' })),
    'not_verified',
  );
  expect(error.message).toContain('did not accept');
  await page.run((op) => drag(op, { from: '#d', to: '#z' }));
  expect(await page.eval('h.at(-2)')).toBe('drop:D!{"a":1}');
});

test('a pointer-driven element follows to the target, and by a distance', async () => {
  await page.goto('/pointer');
  const result = await page.run((op) => drag(op, { from: '#k', to: '#t' }));
  expect(result.kind).toBe('pointer');
  expect(await page.eval('[k.offsetLeft, k.offsetTop, h.at(-1), h[0]]')).toEqual([330, 230, 'up', 1]);
  await page.run((op) => drag(op, { from: '#k', by: { dx: -100, dy: 20 } }));
  expect(await page.eval('[k.offsetLeft, k.offsetTop]')).toEqual([230, 250]);
});

test('an element that becomes draggable as it is pressed', async () => {
  await page.goto('/late');
  await page.run((op) => drag(op, { from: '#d', to: '#z' }));
  expect(await page.eval('h')).toEqual(['late']);
});

test('a missing destination is an error that leaves the button up', async () => {
  await page.goto('/pointer');
  await problem(
    page.run((op) => drag(op, { from: '#k', to: '#nowhere' })),
    'target_not_found',
  );
  expect(await page.eval('h.at(-1)')).toBe('up');
  await problem(
    page.run((op) => drag(op, { from: '#k' })),
    'invalid_request',
  );
});
