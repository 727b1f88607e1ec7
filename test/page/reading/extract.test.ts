import { describe, expect, it, test } from 'vitest';
import { extract } from '../../../src/page/reading/extract.ts';
import { numberIn } from '../../../src/page/reading/extract-schema.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({ '/': '<title>Blank</title><body>' });

const SHOP = `<h1>Our <b>shop</b></h1><ul id=list>
  <li class=item><a href="/one?x=1">One</a> <span class=price>€ 1,299.00</span><i class=new></i><em>red</em><em>blue</em></li>
  <li class=item><a href="two">Two</a> <span class=price>12,50 €</span></li></ul><p class=gone style="display:none">hidden</p>
  <form><input id=q value=old><input type=password value=s3cret></form><p class=gift>Gift</p>`;

async function take(input: Parameters<typeof extract>[1], body = SHOP): Promise<unknown> {
  await page.goto();
  await page.eval(`document.body.innerHTML = ${JSON.stringify(body)}; 0`);
  return (await page.run((op) => extract(op, input))).data;
}

test('fields: text, attributes, lists, objects in lists', async () => {
  const fields = {
    title: 'h1',
    none: '#none',
    hrefs: { selector: 'li a', attr: 'href', all: true },
    items: {
      selector: '.item',
      all: true,
      fields: { name: 'a', id: { attr: 'class' }, colours: { selector: 'em', all: true }, whole: {} },
    },
    nothing: { selector: '#none', all: true },
  };
  expect(await take({ fields })).toEqual({
    title: 'Our shop',
    none: null,
    hrefs: [page.server.url('/one?x=1'), page.server.url('/two')],
    items: [
      { name: 'One', id: 'item', colours: ['red', 'blue'], whole: 'One € 1,299.00redblue' },
      { name: 'Two', id: 'item', colours: [], whole: 'Two 12,50 €' },
    ],
    nothing: [],
  });
});

const schema = {
  type: 'object',
  required: ['title', 'items'],
  properties: {
    title: { type: 'string', selector: 'h1' },
    gift: { type: 'boolean', selector: '.gift' },
    subtitle: { type: 'string', selector: 'h2' },
    items: {
      type: 'array',
      selector: '.item',
      minItems: 1,
      items: {
        type: 'object',
        required: ['price'],
        properties: {
          name: { type: 'string', selector: 'a' },
          price: { type: 'number', selector: '.price' },
          fresh: { type: 'boolean', selector: '.new' },
        },
      },
    },
  },
};

test('a schema says where its properties are, and what they have to be', async () => {
  expect(await take({ schema })).toEqual({
    title: 'Our shop',
    gift: true,
    items: [
      { name: 'One', price: 1299, fresh: true },
      { name: 'Two', price: 12.5, fresh: false },
    ],
  });
});

test('what does not fit is an error that shows it', async () => {
  const error = await problem(
    take({ schema }, '<h1>T</h1><div class=item><span class=price>ask us</span></div>'),
    'assertion_failed',
  );
  expect(error.extra['unmet']).toEqual([{ pointer: '/items/0/price', message: 'must be number' }]);
  expect(error.extra['seen']).toMatchObject({ items: [{ price: 'ask us' }] });
  await problem(take({ schema }, '<p>nothing of it'), 'assertion_failed');
});

test('fields and a schema: the fields find, the schema checks', async () => {
  const fields = { price: { selector: '.item:first-child .price' } };
  const checks = {
    type: 'object',
    properties: { price: { type: 'number', maximum: 2000 } },
    required: ['price'],
  };
  expect(await take({ fields, schema: checks })).toEqual({ price: 1299 });
  checks.properties.price.maximum = 10;
  await problem(take({ fields, schema: checks }), 'assertion_failed');
});

test('values are live, addresses absolute, passwords not told', async () => {
  await page.goto();
  await page.eval(`document.body.innerHTML = ${JSON.stringify(SHOP)}; q.value = 'typed'; 0`);
  const fields = {
    q: { selector: '#q', attr: 'value' },
    all: { selector: 'input', attr: 'value', all: true },
    form: 'form',
    pass: '[type=password]',
  };
  const { data } = await page.run((op) => extract(op, { fields }));
  expect(data).toEqual({ q: 'typed', all: ['typed', '[redacted]'], form: '', pass: '[redacted]' });
});

test('within an element, through shadow roots', async () => {
  await page.goto();
  await page.eval(`document.body.innerHTML = '<p>outside</p><section><x-s></x-s></section>';
    customElements.define('x-s', class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'closed' }).innerHTML = '<p>inside</p>' } }); 0`);
  const one = await page.run((op) =>
    extract(op, { fields: { p: { selector: 'p', all: true } }, selector: 'section' }),
  );
  expect(one.data).toEqual({ p: ['inside'] });
  const nested = await page.run((op) =>
    extract(op, { fields: { s: { selector: 'section', fields: { p: 'p' } } } }),
  );
  expect(nested.data).toEqual({ s: { p: 'inside' } });
});

test('a page whose elements have the names of what is asked for changes nothing', async () => {
  const body = `<img name=baseURI><img name=querySelectorAll><img name=getElementById><form id=f><input name=querySelectorAll><input name=getAttribute><input name=baseURI><a href="x">in form</a></form>`;
  const fields = {
    form: { selector: 'form', fields: { text: 'a', url: { selector: 'a', attr: 'href' } } },
    id: { selector: 'form', attr: 'id' },
  };
  expect(await take({ fields }, body)).toEqual({
    form: { text: 'in form', url: page.server.url('/x') },
    id: 'f',
  });
});

test('a name such as __proto__ is data', async () => {
  const fields = JSON.parse('{"__proto__": "h1", "constructor": "h1"}');
  expect(JSON.stringify(await take({ fields }))).toBe('{"__proto__":"Our shop","constructor":"Our shop"}');
});

describe('refused', () => {
  it.each([
    ['neither fields nor schema', {}, 'invalid_request', /fields, a schema, or both/],
    ['an invalid selector', { fields: { a: 'b[' } }, 'invalid_target', /b\[: .*not a valid selector/],
    [
      'an invalid selector inside',
      { fields: { a: { selector: 'li', fields: { b: '>>>' } } } },
      'invalid_target',
      />>>: .*not a valid selector/,
    ],
    [
      'an unknown member',
      { fields: { a: { selector: 'li', fields: { b: { css: 'a' } } } } },
      'invalid_request',
      /\/fields\/a\/fields\/b\/css: unknown field/,
    ],
    [
      'attr beside fields',
      { fields: { a: { selector: 'li', attr: 'id', fields: { b: 'a' } } } },
      'invalid_request',
      /goes with text/,
    ],
    [
      'a schema that says not where',
      { schema: { properties: { a: { type: 'string' } } } },
      'invalid_request',
      /\/schema\/properties\/a: says not where/,
    ],
    [
      'a schema that is none',
      { fields: { a: 'h1' }, schema: { type: 'nothing' } },
      'invalid_request',
      /\/schema: .*type/,
    ],
    ['more than maxChars', { fields: { a: 'body' }, maxChars: 10 }, 'too_large', /more than 10 characters/],
  ] as const)('%s', async (_, input, code, message) => {
    expect((await problem(take(input as Parameters<typeof extract>[1]), code)).message).toMatch(message);
  });

  it('fields that nest without end', async () => {
    let fields: Record<string, unknown> = { a: 'a' };
    for (let i = 0; i < 30; i++) fields = { a: { selector: 'li', fields } };
    await problem(take({ fields: fields as never }), 'invalid_request');
  });

  it('a pattern that takes for ever ends with the time limit, and the next one works', async () => {
    await page.goto();
    await page.eval(`document.body.innerHTML = '<h1>${'a'.repeat(60)}!</h1>'; 0`);
    const slow = {
      type: 'object',
      properties: { t: { type: 'string', selector: 'h1', pattern: '^(a+)+$' } },
    };
    await problem(
      page.run((op) => extract(op, { schema: slow }), { timeoutMs: 1500 }),
      'timeout',
    );
    expect((await page.run((op) => extract(op, { fields: { t: 'h1' } }))).data).toEqual({
      t: `${'a'.repeat(60)}!`,
    });
  });
});

it.each([
  ['€ 1,299.00', 1299],
  ['1.299,50 €', 1299.5],
  ['12,5', 12.5],
  ['1,234', 1234],
  ['1,234,567', 1234567],
  ['1.5', 1.5],
  ['-3', -3],
  ["1'000", 1000],
  ['1 000 000 kr', 1000000],
  ['3 of 4', undefined],
  ['none', undefined],
])('the number in %j is %j', (text, expected) => {
  expect(numberIn(text)).toBe(expected);
});
