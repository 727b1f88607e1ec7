import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, bench, launch } from './harness.ts';

let browser: Browser;
let page: Bench;
let server: Server;
let origin: string;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
  server = createServer((request, response) => {
    if (request.url === '/page') {
      const { port } = new URL(`http://${request.headers.host}`);
      response.setHeader('content-type', 'text/html');
      response.end(`<link rel=stylesheet href="http://127.0.0.1:${port}/x.css"><div class=far>text</div>`);
      return;
    }
    response.setHeader('content-type', 'text/css').end('.far{cursor:pointer}.far::before{content:"far "}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

async function text(html: string): Promise<string> {
  await page.load(html);
  await page.page.evaluate(
    'document.readyState === "complete" || new Promise((done) => addEventListener("load", done))',
  );
  return (await page.text()).replace(/ \[ref=e\d+\]/g, ' *');
}

/** Each way in which a style sheet can give the hand cursor and generated text to the element with id x. */
const rules: Record<string, string> = {
  plain: '#x{cursor:pointer}#x::before{content:"pre "}',
  'single colon, in a list': 'b,#x{cursor:pointer}b:before,#x:before{content:"pre "}',
  'in a media query': '@media screen{#x{cursor:pointer}#x::before{content:"pre "}}',
  'in layer and supports': '@layer a{@supports (color:red){#x{cursor:pointer}#x::before{content:"pre "}}}',
  nested: '.w{& #x{cursor:pointer;&::before{content:"pre "}}}',
  'nested without ampersand': '.w{#x{cursor:pointer}#x::before{content:"pre "}}',
  'nested declarations in a media query': '#x{@media screen{cursor:pointer;&::before{content:"pre "}}}',
  'in a scope': '@scope (.w){#x{cursor:pointer}#x::before{content:"pre "}}',
  imported: '@import url("data:text/css,%23x{cursor:pointer}%23x::before{content:%22pre %22}");',
  'by a variable': ':root{--c:pointer;--t:"pre "}#x{cursor:var(--c)}#x::before{content:var(--t)}',
  'an image with a fallback': '#x{cursor:url(data:,),pointer}#x::before{content:"pre "}',
  'a selector with a comma inside':
    '#x:is(div,p)[data-t="a,b"]{cursor:pointer}#x:is(div,p)::before{content:"pre "}',
  'among selectors that no element matches':
    '::-webkit-scrollbar-thumb,#x{cursor:pointer}#x::before{content:"pre "}',
};

describe('style sheets are read for hand cursors and generated text', () => {
  it.each(Object.keys(rules))('%s', async (name) => {
    const html = `<style>${rules[name]}</style><div class=w><div id=x data-t="a,b">text</div></div><p>other</p>`;
    expect(await text(html)).toBe('- generic *: pre text\n- text: other');
  });

  it('inline, adopted and changed later', async () => {
    expect(await text('<div style="cursor:pointer">inline</div>')).toBe('- generic *: inline');
    await page.load('<div id=x>text</div>');
    expect(await page.text()).toBe('- text: text');
    await page.page.evaluate(
      'sheet = new CSSStyleSheet(); sheet.replaceSync("#x::after{content:\\" post\\"}"); document.adoptedStyleSheets = [sheet]',
    );
    expect(await page.text()).toBe('- text: text post');
    await page.page.evaluate('sheet.replaceSync("#x{cursor:pointer}")');
    expect(await page.text()).toMatch(/^- generic \[ref=e\d+\]: text$/);
    await page.page.evaluate('sheet.insertRule("#x::after{content:\\" again\\"}", 1)');
    expect(await page.text()).toMatch(/: text again$/);
  });

  it('a sheet of another origin, which no script may read', async () => {
    await page.page.goto(`${origin.replace('127.0.0.1', 'localhost')}/page`);
    await page.inject();
    expect(await page.text()).toMatch(/^- generic \[ref=e\d+\]: far text$/);
  });

  it('shadow trees: own sheets, :host, ::slotted, ::part from outside', async () => {
    const shadow = (css: string, inner: string): string =>
      `r = document.body.appendChild(document.createElement('div')); r.innerHTML = '<i>light</i>';
       r.attachShadow({ mode: 'open' }).innerHTML = '<style>${css}</style>${inner}';`;
    await page.load('<style>div::part(p){cursor:pointer}</style>');
    await page.page.evaluate(
      shadow('u{cursor:pointer}u::before{content:"own "}', '<u>inner</u>') +
        shadow(':host{cursor:pointer}:host::before{content:"host "}', '<u>inner</u>') +
        shadow('::slotted(i){cursor:pointer}::slotted(i)::before{content:"slot "}', '<slot></slot>') +
        shadow('', '<u part=p>part</u>'),
    );
    expect((await page.text()).replace(/ \[ref=e\d+\]/g, ' *').split('\n')).toEqual([
      '- generic *: own inner',
      '- generic *: host inner',
      '- generic *: slot light',
      '- generic *: part',
    ]);
  });
});
