import { expect, test } from 'vitest';
import { readLinks } from '../../../src/page/reading/links.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': '<title>Blank</title><body>',
  '/base': '<base href="/deep/"><a href="x">X</a><iframe src="CROSS/inner"></iframe>',
  '/inner': '<a href="only">Inside</a><a href="http://other.example/">Out</a>',
});

async function linksOf(body: string, input: Parameters<typeof readLinks>[1] = {}) {
  await page.goto();
  await page.eval(`document.body.innerHTML = ${JSON.stringify(body)}; 0`);
  return page.run((op) => readLinks(op, input));
}

test('are absolute and each URL is there once, with the first text that says something', async () => {
  const { links, total, truncated } = await linksOf(
    `<a href="/a"><img src=x></a><a href="a">  Read
      <b>more</b></a><a href="/a#part">Part</a><a href="?q=ü&x=1">Query</a><a>none</a><a href="javascript:alert(1)">Script</a>
      <a href="mailto:a@b.example">Mail</a><map><area href="/area" alt="Area"></map><svg><a href="/svg"><text>Drawn</text></a></svg>
      <a href="/hidden" style="display:none">Hidden</a><a href="/icon" aria-label="Icon"></a><a href="http://[bad">Bad</a>`,
  );
  const at = (path: string) => page.server.url(path);
  expect(links).toEqual([
    { url: at('/a'), text: 'Read more', visible: true, frame: 'main' },
    { url: at('/a#part'), text: 'Part', visible: true, frame: 'main' },
    { url: at('/?q=%C3%BC&x=1'), text: 'Query', visible: true, frame: 'main' },
    { url: 'mailto:a@b.example', text: 'Mail', visible: true, frame: 'main' },
    { url: at('/area'), text: 'Area', visible: false, frame: 'main' },
    { url: at('/svg'), text: 'Drawn', visible: true, frame: 'main' },
    { url: at('/hidden'), text: 'Hidden', visible: false, frame: 'main' },
    { url: at('/icon'), text: 'Icon', visible: true, frame: 'main' },
    { url: 'http://[bad', text: 'Bad', visible: true, frame: 'main' },
  ]);
  expect([total, truncated]).toEqual([9, false]);
});

test('of frames and by the base of the document', async () => {
  await page.goto('/base');
  const { links } = await page.run((op) => readLinks(op, {}));
  expect(links.map(({ url, frame }) => [url, frame])).toEqual([
    [page.server.url('/deep/x'), 'main'],
    [page.server.url('/only', 'localhost'), 'f1'],
    ['http://other.example/', 'f1'],
  ]);
  expect((await page.run((op) => readLinks(op, { frame: 'f1' }))).total).toBe(2);
});

test('of one element, and in shadow roots', async () => {
  await page.goto();
  await page.eval(`document.body.innerHTML = '<a href=/out>Out</a><nav><a href=/in>In</a><x-s></x-s></nav>';
    customElements.define('x-s', class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'closed' }).innerHTML = '<a href=/closed>Closed</a>' } }); 0`);
  const { links } = await page.run((op) => readLinks(op, { selector: 'nav' }));
  expect(links.map(({ text }) => text)).toEqual(['In', 'Closed']);
});

test('too many for one answer go on with the cursor, as they were', async () => {
  const body = Array.from({ length: 300 }, (_, i) => `<a href="/${i}">Link ${i}</a>`).join('');
  let answer = await linksOf(body, { maxChars: 2000 });
  const texts: string[] = [];
  await page.eval("document.body.textContent = ''; 0");
  for (;;) {
    texts.push(...answer.links.map(({ text }) => text));
    const { cursor } = answer;
    if (cursor === undefined) break;
    expect(answer.total).toBe(300);
    answer = await page.run((op) => readLinks(op, { cursor, maxChars: 2000 }));
  }
  expect(texts).toEqual(Array.from({ length: 300 }, (_, i) => `Link ${i}`));
  await problem(
    page.run((op) => readLinks(op, { cursor: 'r99:1' })),
    'invalid_request',
  );
});
