import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { TestService } from '../support/service.ts';

let pages: PageServer;
let service: TestService;
let path: string;
beforeAll(async () => {
  pages = await PageServer.open({
    '/spin': '<title>Spin</title><button onclick="document.title=`spun`; while (true);">Spin</button>',
    '/again': '<button onclick="setTimeout(function f() { setTimeout(f); while (true); })">Spin</button>',
    '/next': '<title>Next</title><h1>Next</h1>',
  });
  service = await TestService.start(['--pool', '0', '--allow', `127.0.0.1:${pages.port}`]);
  path = await service.session();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});

const go = (to: string) => service.post(`${path}/navigate`, { url: pages.url(to) });

/** Every operation that finds the page hung is told so in time, and the one after it does not. */
test.each([
  ['snapshot', 'GET', {}],
  ['screenshot', 'GET', {}],
  ['click', 'POST', { target: 'button' }],
  ['wait', 'POST', { text: 'nowhere' }],
  ['heap/usage', 'GET', {}],
])('%s on a page that hangs is a timeout, and frees it', async (operation, method, input) => {
  expect((await go('/spin')).status).toBe(200);
  expect((await service.post(`${path}/click`, { target: 'button', timeoutMs: 700 })).body.code).toBe(
    'timeout',
  );
  const { status } = await service.post(`${path}/eval`, { expression: 'document.title' });
  expect(status).toBe(200);
  // Hung again, without anybody's operation to blame.
  await service.post(`${path}/eval`, { expression: 'setTimeout(() => { while (true); })' });
  const query = new URLSearchParams({ timeoutMs: '700' });
  const { body } =
    method === 'GET'
      ? await service.get(`${path}/${operation}?${query}`)
      : await service.post(`${path}/${operation}`, { ...input, timeoutMs: 700 });
  expect(body.code).toBe('timeout');
  const after = await service.post(`${path}/eval`, { expression: 'document.title' });
  expect(after.body).toMatchObject({ value: 'spun' });
});

test('a page that hangs again each time is crashed, and the next navigation works', async () => {
  await go('/again');
  await service.post(`${path}/click`, { target: 'button', timeoutMs: 1000 });
  expect((await service.post(`${path}/wait`, { text: 'nowhere', timeoutMs: 500 })).body.code).toBe('timeout');
  expect((await service.post(`${path}/eval`, { expression: '1' })).body.code).toBe('page_crashed');
  expect((await go('/next')).body).toMatchObject({ status: 200, title: 'Next' });
});
