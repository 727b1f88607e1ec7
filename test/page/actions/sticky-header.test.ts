import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { ActionPage } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<body style="margin:0"><div onclick="h.push('hdr')" style="position:sticky;top:0;height:80px;background:#ccc">hdr</div>
    <div style="height:900px"></div><button id=b style="display:block" onclick="h.push('b')">Go</button>
    <div style="height:300px;overflow:auto"><div style="height:900px"></div><button id=d onclick="h.push('d')">Deep</button></div>
    <div style="height:3000px"></div><script>h=[]</script>`,
  '/footer': `<body style="margin:0;scroll-behavior:smooth"><div style="height:2000px"></div><button id=b onclick="h.push('b')">Go</button>
    <div style="position:fixed;bottom:0;width:100%;height:70%;background:#cde" onclick="h.push('footer')">footer</div>
    <div style="height:2000px"></div><script>h=[];document.documentElement.style.scrollBehavior='smooth'</script>`,
});

const click1 = (target: string) => page.run((op) => click(op, { target }));

test('a click reaches what a sticky header covers, what is off-screen, and what a scroller hides', async () => {
  await page.goto();
  await page.eval('scrollTo(0, 960)');
  await click1('#b');
  await click1('#d');
  await page.eval('scrollTo(0, 0)');
  await click1('#b');
  expect(await page.eval('h')).toEqual(['b', 'd', 'b']);
});

test('a click reaches what a tall fixed footer would cover in the middle of the screen, on a page that scrolls smoothly', async () => {
  await page.goto('/footer');
  await click1('#b');
  expect(await page.eval('h')).toEqual(['b']);
});
