import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { TestService } from '../support/service.ts';

let pages: PageServer;
let service: TestService;
let path: string;
beforeAll(async () => {
  pages = await PageServer.open({
    '/': '<title>One</title><label>Name <input id=n></label><button onclick="document.title=n.value">Go</button><a target=_blank href="/two">Blank</a><a target=_blank rel=noopener href="/two">Noopener</a>',
    '/two': '<title>Two</title><h1>Second</h1>',
    '/late': '<p id=p>wait</p><script>setTimeout(() => { p.textContent = "here"; }, 300)</script>',
  });
  service = await TestService.start(['--pool', '0', '--allow', `127.0.0.1:${pages.port}`]);
  path = await service.session();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});

test('every operation on a session that is a route is a step of a batch', async () => {
  const { operations } = (await service.get('/v1/capabilities?schemas=0')).body;
  const routes = operations
    .filter((one: { path: string; name: string }) => one.path.startsWith('/v1/sessions/{id}/'))
    .map((one: { name: string }) => one.name);
  const refused = await service.post(`${path}/batch`, { steps: [{ op: 'no such step at all' }] });
  const steps = /steps are (.*)$/.exec(refused.body.detail)?.[1]?.split(', ') ?? [];
  expect(steps.length).toBeGreaterThan(20);
  expect(routes.filter((name: string) => !steps.includes(name)).sort()).toEqual([
    'batch',
    'events',
    'files.get',
    'files.upload',
  ]);
});

test('a batch runs its steps in order and answers what each route would', async () => {
  const answer = await service.post(`${path}/batch`, {
    steps: [
      { op: 'navigate', url: pages.url('/') },
      { op: 'fill', target: { label: 'Name' }, value: 'Ana' },
      { op: 'click', target: { role: 'button', name: 'Go' } },
      { op: 'eval', expression: 'document.title' },
      { op: 'screenshot' },
    ],
  });
  expect(answer.status).toBe(200);
  expect(answer.body.failedIndex).toBeUndefined();
  expect(answer.body.results.map((one: { ok: boolean }) => one.ok)).toEqual([true, true, true, true, true]);
  expect(answer.body.results[3].result).toEqual({ value: 'Ana', type: 'string' });
  const picture = answer.body.results[4].result;
  expect(picture.contentType).toBe('image/png');
  expect(Buffer.from(picture.base64, 'base64').subarray(1, 4).toString()).toBe('PNG');
});

test('a failed step ends a batch, or not, as asked; its problem is whole', async () => {
  const steps = [
    { op: 'eval', expression: '1' },
    { op: 'click', target: '#nothing', timeoutMs: 2_000 },
    { op: 'eval', expression: '2' },
  ];
  const stopped = (await service.post(`${path}/batch`, { steps })).body;
  expect(stopped.failedIndex).toBe(1);
  expect(stopped.results).toHaveLength(2);
  expect(stopped.results[1].problem).toMatchObject({ code: 'target_not_found', status: 404 });
  const whole = (await service.post(`${path}/batch`, { steps, onError: 'continue' })).body;
  expect(whole.results.map((one: { ok: boolean }) => one.ok)).toEqual([true, false, true]);
});

test('a batch whose third step is wrong runs none', async () => {
  const answer = await service.post(`${path}/batch`, {
    steps: [
      { op: 'eval', expression: 'window.ran = 1' },
      { op: 'eval', expression: '1' },
      { op: 'click', target: 'button', buton: 'left' },
    ],
  });
  expect([answer.status, answer.body.code, answer.body.pointer]).toEqual([
    422,
    'invalid_request',
    '/steps/2/buton',
  ]);
  expect((await service.post(`${path}/eval`, { expression: 'typeof window.ran' })).body.value).toBe(
    'undefined',
  );
});

test('with Accept: application/x-ndjson each step is a line', async () => {
  const answer = await service.post(
    `${path}/batch`,
    { steps: [{ op: 'eval', expression: '1' }, { op: 'page' }] },
    { headers: { accept: 'application/x-ndjson' } },
  );
  expect(answer.headers.get('content-type')).toContain('application/x-ndjson');
  const lines = answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => [line.op, line.ok])).toEqual([
    ['eval', true],
    ['page', true],
  ]);
});

test('a click on a link to a new tab tells the tab; the default tab does not move', async () => {
  await service.post(`${path}/navigate`, { url: pages.url('/') });
  for (const name of ['Blank', 'Noopener']) {
    const clicked = await service.post(`${path}/click`, { target: { role: 'link', name } });
    expect(clicked.body.newTabs).toHaveLength(1);
    const [{ id }] = clicked.body.newTabs;
    const { tabs } = (await service.get(`${path}/tabs`)).body;
    expect(tabs.find((tab: { id: string }) => tab.id === id)).toMatchObject({
      url: pages.url('/two'),
      active: false,
    });
    expect((await service.get(`${path}/snapshot?tab=${id}`)).body.text).toContain('heading "Second"');
    expect((await service.get(`${path}/snapshot`)).body.text).toContain('textbox "Name"');
    expect((await service.delete(`${path}/tabs/${id}`)).body.closed).toBe(id);
    const gone = await service.get(`${path}/snapshot?tab=${id}`);
    expect([gone.status, gone.body.code]).toEqual([404, 'tab_not_found']);
  }
});

test('tabs are opened, made active and closed; ids are not used again', async () => {
  const opened = await service.post(`${path}/tabs`, { url: pages.url('/two') });
  expect(opened.status).toBe(201);
  expect(opened.body).toMatchObject({ tab: { active: true }, navigation: { status: 200, title: 'Two' } });
  const { id } = opened.body.tab;
  expect((await service.get(`${path}/page`)).body).toMatchObject({ tab: id, title: 'Two' });
  expect(
    (await service.get(`${path}/tabs`)).body.tabs.find((tab: { id: string }) => tab.id === id).title,
  ).toBe('Two');
  const first = (await service.get(`${path}/tabs`)).body.tabs[0].id;
  expect((await service.post(`${path}/tabs/${first}/activate`)).body.tab).toMatchObject({
    id: first,
    active: true,
  });
  await service.delete(`${path}/tabs/${id}`);
  const again = await service.post(`${path}/tabs`, { activate: false });
  expect(again.body.tab.id).not.toBe(id);
  await service.delete(`${path}/tabs/${again.body.tab.id}`);
});

test('a denied URL opens no tab', async () => {
  const before = (await service.get(`${path}/tabs`)).body.tabs.length;
  const answer = await service.post(`${path}/tabs`, { url: 'http://127.0.0.1:1/' });
  expect([answer.status, answer.body.code]).toEqual([403, 'policy_denied']);
  expect((await service.get(`${path}/tabs`)).body.tabs).toHaveLength(before);
});

test('wait sees what comes late; assert says what was seen instead', async () => {
  await service.post(`${path}/navigate`, { url: pages.url('/late') });
  expect((await service.post(`${path}/wait`, { text: 'here' })).body.ok).toBe(true);
  const failed = await service.post(`${path}/assert`, { text: 'nowhere' });
  expect([failed.status, failed.body.code]).toEqual([409, 'assertion_failed']);
  expect(failed.body.seen).toBeDefined();
  const late = await service.post(`${path}/wait`, { text: 'never', timeoutMs: 600 });
  expect([late.status, late.body.code]).toEqual([504, 'timeout']);
});
