import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { drag } from '../../../src/page/actions/drag.ts';
import { focus } from '../../../src/page/actions/focus.ts';
import { hover } from '../../../src/page/actions/hover.ts';
import { type MouseInput, mouse } from '../../../src/page/actions/mouse.ts';
import { scroll } from '../../../src/page/actions/scroll.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<body style="margin:0;height:3000px"><button id=b style="position:absolute;left:20px;top:30px;width:100px;height:50px;border:0">b</button>
    <input id=i style="position:absolute;top:100px"><p id=p style="position:absolute;top:2500px">far</p>
    <div id=box style="position:absolute;top:150px;width:200px;height:100px;overflow:auto"><div style="height:900px">in</div></div><script>h=[]
    for(const t of ['mousedown','mouseup','click','dblclick','auxclick','contextmenu'])b.addEventListener(t,e=>h.push([t,e.button,e.detail,e.ctrlKey&&'C',e.shiftKey&&'S',e.offsetX+','+e.offsetY].filter(x=>x!==false).join(' ')))
    addEventListener('wheel',e=>h.push('wheel '+e.deltaY));addEventListener('mousemove',e=>m=[e.clientX,e.clientY,e.buttons])</script>`,
  '/app': `<body style="margin:0;overflow:hidden;height:100vh"><main id=m style="height:100vh;overflow:auto"><div style="height:4000px">tall</div></main>`,
  '/short': '<p>short',
  '/large': `<body style="margin:0"><div id=l style="width:3000px;height:4000px" onclick="h.push([event.offsetX,event.offsetY])"></div><map name=m><area id=area shape=rect coords="20,20,60,60" href="#area"></map><img usemap="#m" width=100 height=100 src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><details><summary id=sum>more</summary>in</details><script>h=[]</script>`,
});

test('a position outside of the box is refused at once, by the name that it has in the request', async () => {
  await page.goto();
  const far = { x: 500, y: 500 };
  const [clicked, hovered, forced] = [
    await problem(
      page.run((op) => click(op, { target: '#b', position: far })),
      'invalid_request',
    ),
    await problem(
      page.run((op) => hover(op, { target: '#b', position: { x: 100, y: 0 } })),
      'invalid_request',
    ),
    await problem(
      page.run((op) => click(op, { target: '#b', position: { x: 0, y: 50 }, force: true })),
      'invalid_request',
    ),
  ];
  for (const error of [clicked, hovered, forced]) expect(error.extra).toMatchObject({ pointer: '/position' });
  expect(clicked.message).toContain('100 × 50');
  const dragged = await problem(
    page.run((op) => drag(op, { from: '#b', to: '#i', toPosition: far })),
    'invalid_request',
  );
  expect(dragged.extra).toMatchObject({ pointer: '/toPosition' });
  await page.run((op) => click(op, { target: '#b', position: { x: 99, y: 49 } }));
});

test('a position that an element is about to grow to is waited for', async () => {
  await page.goto();
  await page.eval('b.style.transition = "width .5s"; b.offsetWidth; b.style.width = "300px"; 0');
  await page.run((op) => click(op, { target: '#b', position: { x: 290, y: 5 } }));
  expect(await page.eval('h.at(-1)')).toBe('click 0 1 290,5');
});

test('button, count, modifiers and position are as asked for', async () => {
  await page.goto();
  await page.run((op) =>
    click(op, { target: '#b', position: { x: 5, y: 6 }, modifiers: ['Control', 'Shift'] }),
  );
  expect(await page.eval('h.splice(0)')).toEqual([
    'mousedown 0 1 C S 5,6',
    'mouseup 0 1 C S 5,6',
    'click 0 1 C S 5,6',
  ]);
  await page.run((op) => click(op, { target: '#b', count: 2 }));
  expect(await page.eval('h.splice(0).map(x => x.slice(0, -6))')).toEqual([
    'mousedown 0 1',
    'mouseup 0 1',
    'click 0 1',
    'mousedown 0 2',
    'mouseup 0 2',
    'click 0 2',
    'dblclick 0 2',
  ]);
  await page.run((op) => click(op, { target: '#b', button: 'right' }));
  expect(await page.eval('h.splice(0).some(x => x.startsWith("contextmenu 2"))')).toBe(true);
  await page.run((op) => click(op, { target: '#b', button: 'middle' }));
  expect(await page.eval('h.splice(0).at(-1).slice(0, 10)')).toBe('auxclick 1');
});

test('raw mouse events arrive where they are sent', async () => {
  await page.goto();
  const send = (input: MouseInput) => page.run((op) => mouse(op, input));
  await send({ action: 'move', x: 60, y: 50 });
  await send({ action: 'down', x: 60, y: 50 });
  await send({ action: 'move', x: 70, y: 55, button: 'left' });
  expect(await page.eval('m')).toEqual([70, 55, 1]);
  await send({ action: 'up', x: 70, y: 55 });
  expect(await page.eval('h.splice(0)')).toEqual([
    'mousedown 0 1 40,20',
    'mouseup 0 1 50,25',
    'click 0 1 50,25',
  ]);
  await send({ action: 'wheel', x: 300, y: 300, deltaY: 120 });
  await expect.poll(() => page.eval('h.join()')).toBe('wheel 120');
  await problem(send({ action: 'move', x: 9000, y: 5 }), 'invalid_request');
  await problem(send({ action: 'wheel', x: 5, y: 5 }), 'invalid_request');
});

test('scroll: by amounts, to the ends, to an element, and inside a scroller', async () => {
  await page.goto();
  const height = Number(await page.eval('innerHeight'));
  expect((await page.run((op) => scroll(op, { dy: 200 }))).scroll).toEqual({
    x: 0,
    y: 200,
    maxX: 0,
    maxY: 3000 - height,
  });
  expect((await page.run((op) => scroll(op, { to: 'bottom' }))).scroll?.y).toBe(3000 - height);
  await page.run((op) => scroll(op, { to: 'bottom' }));
  const end = await problem(
    page.run((op) => scroll(op, { dy: 200 })),
    'not_verified',
  );
  expect(end.extra['scroll']).toMatchObject({ y: 3000 - height });
  await page.run((op) => scroll(op, { to: 'top' }));
  await page.run((op) => scroll(op, { target: '#p' }));
  expect(await page.eval('p.getBoundingClientRect().bottom <= innerHeight')).toBe(true);
  await page.run((op) => scroll(op, { target: '#box', dy: 50 }));
  expect(await page.eval('box.scrollTop')).toBe(50);
  await problem(
    page.run((op) => scroll(op, {})),
    'invalid_request',
  );
});

test('a page that scrolls in an element of its own is scrolled there', async () => {
  await page.goto('/app');
  await page.run((op) => scroll(op, { dy: 300 }));
  expect(await page.eval('m.scrollTop')).toBe(300);
  await page.goto('/short');
  await problem(
    page.run((op) => scroll(op, { dy: 300 })),
    'not_verified',
  );
});

test('focus gives the focus, or is an error; hover moves the pointer', async () => {
  await page.goto();
  await page.run((op) => focus(op, { target: '#i' }));
  expect(await page.eval('document.activeElement.id')).toBe('i');
  await problem(
    page.run((op) => focus(op, { target: '#p' })),
    'not_interactable',
  );
  await page.run((op) => hover(op, { target: '#b', position: { x: 1, y: 1 } }));
  expect(await page.eval('m.slice(0, 2)')).toEqual([21, 31]);
});

test('a position far inside a large element, an area of an image map, a summary', async () => {
  await page.goto('/large');
  await page.run((op) => click(op, { target: '#l', position: { x: 2900, y: 3500 } }));
  await page.run((op) => click(op, { target: '#l', position: { x: 10, y: 20 } }));
  expect(await page.eval('h')).toEqual([
    [2900, 3500],
    [10, 20],
  ]);
  await page.run((op) => click(op, { target: '#area' }));
  expect(await page.eval('location.hash')).toBe('#area');
  await page.run((op) => click(op, { target: '#sum' }));
  expect(await page.eval('document.querySelector("details").open')).toBe(true);
});
