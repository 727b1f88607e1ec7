import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { TestService } from '../support/service.ts';

let pages: PageServer;
let service: TestService;
let path: string;
beforeAll(async () => {
  pages = await PageServer.open({
    '/': `<title>Reading</title><h1>Title</h1><p id=a>First <b>bold</b></p><a href="/two">Two</a>${'<p>word 😀</p>'.repeat(50)}`,
    '/two':
      '<title>Two</title><ul><li class=i>a<li class=i>b</ul><iframe name=inner srcdoc="<p>in</p>"></iframe>',
  });
  service = await TestService.start(['--pool', '0', '--allow', `127.0.0.1:${pages.port}`]);
  path = await service.session();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});
beforeEach(async () => {
  const { status } = await service.post(`${path}/navigate`, { url: pages.url('/') });
  expect(status).toBe(200);
});

const ANY = { headers: { accept: '*/*' } };

test.each(['text', 'html', 'markdown'])(
  'GET %s is plain text for curl, and JSON for who asks for it',
  async (name) => {
    const plain = await service.get(`${path}/${name}?selector=%23a`, ANY);
    expect(plain.status).toBe(200);
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(plain.headers.get('airlock-untrusted')).toBe('page');
    const { body, headers } = await service.get(`${path}/${name}?selector=%23a`);
    expect(headers.get('airlock-untrusted')).toBe('page');
    expect(plain.text).toBe(`${body.content}\n`);
    const contents = {
      text: 'First bold',
      html: '<p id="a">First <b>bold</b></p>',
      markdown: 'First **bold**',
    };
    expect(body).toEqual({
      url: pages.url('/'),
      title: 'Reading',
      content: contents[name as keyof typeof contents],
      truncated: false,
      total: contents[name as keyof typeof contents].length,
    });
  },
);

test('a fence stands around the text of a page', async () => {
  const { text } = await service.get(`${path}/text?selector=%23a&fence=1`, ANY);
  const nonce = /^<<<BEGIN page content ([0-9a-f]{24})\n/.exec(text)?.[1];
  expect(text).toBe(`<<<BEGIN page content ${nonce}\nFirst bold\n\nEND page content ${nonce}>>>\n`);
});

test('a long page is cut between characters, says how to go on, and goes on', async () => {
  const first = (await service.get(`${path}/text?maxChars=100`)).body;
  expect(first).toMatchObject({ truncated: true, cursor: expect.stringMatching(/^r\d+:\d+$/) });
  let whole = first.content;
  for (let { cursor } = first; cursor !== undefined; ) {
    const { body } = await service.get(`${path}/text?maxChars=100&cursor=${cursor}`);
    expect(body.content.isWellFormed()).toBe(true);
    whole += body.content;
    cursor = body.cursor;
  }
  expect(whole).toBe((await service.get(`${path}/text`)).body.content);
  const plain = await service.get(`${path}/text?maxChars=100`, ANY);
  expect(plain.text).toMatch(/\n… cut; \d+ characters in all\. Go on with cursor=r\d+:\d+\n$/);
  const both = await service.get(`${path}/text?cursor=r1:3&selector=p`);
  expect([both.status, both.body.code, both.body.pointer]).toEqual([422, 'invalid_request', '/cursor']);
});

test('a target in a query is a ref, a selector, or an object as JSON text', async () => {
  const target = (text: string) => service.get(`${path}/text?target=${encodeURIComponent(text)}`);
  expect((await target('{"role":"link","name":"Two"}')).body.content).toBe('Two');
  expect((await target('h1')).body.content).toBe('Title');
  const { ref } = (await service.post(`${path}/query`, { target: 'h1', props: ['box'] })).body;
  expect((await target(ref)).body.content).toBe('Title');
  expect((await service.get(`${path}/markdown?ref=${ref}`)).body.content).toBe('# Title');
  expect((await target('{"role":')).body).toMatchObject({ code: 'invalid_request', pointer: '/target' });
  expect((await target('{"roles":"link"}')).body.code).toBe('invalid_request');
});

test.each([
  ['text?selector=p[', 422, 'invalid_target'],
  ['html?selector=%23none', 404, 'target_not_found'],
  ['markdown?selector=p', 409, 'ambiguous_target'],
  ['links?frame=nope', 404, 'frame_not_found'],
  ['text?ref=e99999', 404, 'target_not_found'],
  ['text?tab=t9', 404, 'tab_not_found'],
  ['frames?tab=t9', 404, 'tab_not_found'],
  ['text?maxChars=0', 422, 'invalid_request'],
  ['text?selektor=p', 422, 'invalid_request'],
])('GET %s is %i %s', async (query, status, code) => {
  const answer = await service.get(`${path}/${query}`);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
});

test('links, query, extract and frames', async () => {
  const links = await service.get(`${path}/links`);
  expect(links.body).toEqual({
    links: [{ url: pages.url('/two'), text: 'Two', visible: true, frame: 'main' }],
    truncated: false,
    total: 1,
  });
  expect(links.headers.get('airlock-untrusted')).toBe('page');
  await service.post(`${path}/click`, { target: 'a' });
  const query = await service.post(`${path}/query`, { target: '.i', props: ['text'], all: true });
  expect(query.body.elements.map((one: { text: string }) => one.text)).toEqual(['a', 'b']);
  expect(query.headers.get('airlock-untrusted')).toBe('page');
  const schema = { type: 'object', properties: { items: { type: 'array', selector: '.i', minItems: 3 } } };
  const extract = await service.post(`${path}/extract`, { schema });
  expect([extract.status, extract.body.code, extract.body.unmet[0].pointer]).toEqual([
    409,
    'assertion_failed',
    '/items',
  ]);
  schema.properties.items.minItems = 2;
  const fits = await service.post(`${path}/extract`, { schema });
  expect(fits.body).toEqual({ data: { items: ['a', 'b'] } });
  expect(fits.headers.get('airlock-untrusted')).toBe('page');
  const frames = await service.get(`${path}/frames`);
  expect(frames.headers.get('airlock-untrusted')).toBe('page');
  expect(frames.body.frames).toEqual([
    { id: 'main', name: '', url: pages.url('/two'), crossOrigin: false, outOfProcess: false },
    {
      id: expect.stringMatching(/^f\d$/),
      name: 'inner',
      url: 'about:srcdoc',
      parent: 'main',
      crossOrigin: false,
      outOfProcess: false,
    },
  ]);
});

test('each is a step of a batch', async () => {
  const { body } = await service.post(`${path}/batch`, {
    steps: [
      { op: 'text', selector: '#a' },
      { op: 'html', target: { selector: '#a' } },
      { op: 'markdown', selector: '#a' },
      { op: 'links' },
      { op: 'query', target: '#a', props: ['text'] },
      { op: 'extract', fields: { t: 'h1' } },
      { op: 'frames' },
      { op: 'upload', target: '#a', files: ['missing.txt'] },
    ],
    onError: 'continue',
  });
  expect(body.results.map((one: { ok: boolean }) => one.ok)).toEqual([
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    false,
  ]);
  expect(body.results[0].result.content).toBe('First bold');
  expect(body.results[5].result).toEqual({ data: { t: 'Title' } });
  expect(body.results[7].problem.code).toBe('artifact_not_found');
});

test('frames are told of a page that hangs', async () => {
  await service.post(`${path}/eval`, { expression: 'setTimeout(() => { for (;;) {} }); 0' });
  const busy = service.get(`${path}/text?timeoutMs=1500`);
  expect((await service.get(`${path}/frames`)).body.frames).toHaveLength(1);
  expect((await busy).body.code).toBe('timeout');
  expect((await service.get(`${path}/text?selector=h1`)).status).toBe(200);
});
