import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { type Answer, TestService } from '../support/service.ts';

let pages: PageServer;
let service: TestService;
let path: string;
/** Bodies that the page's form sent. */
const sent: string[] = [];
beforeAll(async () => {
  pages = await PageServer.open({
    '/': `<form method=post action="/take" enctype="multipart/form-data"><label>Files <input id=f name=f type=file multiple hidden></label><button>Send</button></form>
      <button id=choose onclick="f.click()">Choose</button>`,
    '/take': (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        sent.push(Buffer.concat(chunks).toString());
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Taken</h1>');
      });
    },
  });
  service = await TestService.start(['--pool', '0', '--allow', `127.0.0.1:${pages.port}`]);
  path = await service.session();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await service.post(`${path}/navigate`, { url: pages.url('/') });
});

/** What the session keeps of the files that came with uploads. */
async function uploads(): Promise<string[]> {
  const runtime = join(service.root, 'r');
  const found = (await readdir(runtime, { recursive: true })).find((name) => /^[^/]*\/uploads$/.test(name));
  return found === undefined ? [] : readdir(join(runtime, found));
}

async function send(form: FormData | Blob, route = 'upload', type?: string): Promise<Answer> {
  const response = await fetch(`${service.baseUrl}${path}/${route}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.token}`,
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    body: form,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

function formOf(fields: Record<string, string>, files: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content]), name);
  return form;
}

test('files of a multipart body reach the server that the form sends them to', async () => {
  const answer = await send(
    formOf({ target: '{"selector":"#choose"}' }, { 'a.txt': 'hello', 'résumé 日.txt': 'zwei' }),
  );
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    ok: true,
    files: [
      { name: 'a.txt', size: 5, type: 'text/plain' },
      { name: 'résumé 日.txt', size: 4 },
    ],
  });
  const click = await service.post(`${path}/click`, { target: { role: 'button', name: 'Send' } });
  expect(click.body.navigated).toBe(true);
  expect(sent.at(-1)).toMatch(/filename="a\.txt"[\s\S]*hello[\s\S]*filename="résumé 日\.txt"[\s\S]*zwei/);
});

test('files of the session by name, also as a step of a batch', async () => {
  const stored = await send(formOf({}, { 'kept.txt': 'kept' }), 'files');
  expect(stored.body.files).toMatchObject([{ name: 'kept.txt', bytes: 4 }]);
  const answer = await service.post(`${path}/upload`, { target: '#f', files: ['kept.txt'] });
  expect(answer.body).toMatchObject({ ok: true, files: [{ name: 'kept.txt', size: 4 }] });
  const { body } = await service.post(`${path}/batch`, {
    steps: [{ op: 'upload', target: '#f', files: ['kept.txt'], snapshot: true }],
  });
  expect(body.results[0]).toMatchObject({
    ok: true,
    result: { files: [{ name: 'kept.txt' }], snapshot: expect.stringContaining('Choose') },
  });
  const form = formOf({ target: '#f', files: 'kept.txt' }, { 'more.txt': 'more' });
  expect((await send(form)).body.files.map((one: { name: string }) => one.name)).toEqual([
    'kept.txt',
    'more.txt',
  ]);
});

test('a file that is missing is an error, and the page hears of nothing', async () => {
  await service.post(`${path}/eval`, { expression: 'n = 0; f.oninput = f.onchange = () => n++; 0' });
  const answer = await service.post(`${path}/upload`, { target: '#f', files: ['kept.txt', 'gone.txt'] });
  expect([answer.status, answer.body.code, answer.body.file]).toEqual([
    404,
    'artifact_not_found',
    'gone.txt',
  ]);
  expect((await service.post(`${path}/eval`, { expression: '[n, f.files.length]' })).body.value).toEqual([
    0, 0,
  ]);
});

test('an upload that fails leaves nothing of its files', async () => {
  const before = await uploads();
  const cases: [FormData, number, string][] = [
    [formOf({ target: '#none', timeoutMs: '2000' }, { 'a.txt': 'x' }), 404, 'target_not_found'],
    [formOf({}, { 'a.txt': 'x' }), 422, 'invalid_request'],
    [formOf({ target: '#f', nonsense: '1' }, { 'a.txt': 'x' }), 422, 'invalid_request'],
    [formOf({ target: '#f' }, {}), 422, 'invalid_request'],
    [formOf({ target: '#f' }, { '../evil.txt': 'x' }), 422, 'invalid_request'],
  ];
  for (const [form, status, code] of cases) {
    const answer = await send(form);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  }
  expect(await uploads()).toEqual(before);
});

test('files that a page has been given stay, also where the answer is an error: it may read them yet', async () => {
  const before = (await uploads()).length;
  await service.post(`${path}/eval`, { expression: 'f.onchange = () => { for (;;) {} }; 0' });
  const answer = await send(formOf({ target: '#f', timeoutMs: '1500' }, { 'a.txt': 'hello' }));
  expect([answer.status, answer.body.code]).toEqual([504, 'timeout']);
  expect(await uploads()).toHaveLength(before + 1);
  expect((await service.post(`${path}/eval`, { expression: 'f.files[0].text()' })).body.value).toBe('hello');
});

test('two files of one name are two', async () => {
  const form = formOf({ target: '#f' }, { 'a.txt': 'one' });
  form.append('files', new Blob(['three']), 'a.txt');
  expect((await send(form)).body.files.map((one: { size: number }) => one.size)).toEqual([3, 5]);
});

test('too large is 413, and nothing of it stays', async () => {
  const before = await uploads();
  const large = new Blob([new Uint8Array(101 * 1024 * 1024)]);
  const form = formOf({ target: '#f' }, {});
  form.append('files', large, 'large.bin');
  const answer = await send(form);
  expect([answer.status, answer.body.code]).toEqual([413, 'too_large']);
  expect(await uploads()).toEqual(before);
  expect((await service.get(`${path}/page`)).status).toBe(200);
});

test('a body that is no multipart is 400; other routes take no multipart at all', async () => {
  const broken = await send(new Blob(['--x\r\nnot the end']), 'upload', 'multipart/form-data; boundary=x');
  expect([broken.status, broken.body.code]).toEqual([400, 'malformed_body']);
  const none = await send(new Blob(['x']), 'upload', 'multipart/form-data');
  expect([none.status, none.body.code]).toEqual([400, 'malformed_body']);
  const click = await send(formOf({ target: '#f' }, {}), 'click');
  expect([click.status, click.body.code]).toEqual([415, 'unsupported_media_type']);
});
