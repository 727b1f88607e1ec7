/** Actions that lead to new tabs, and what the policy says of those. With and without rules that tell URLs apart. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TestService } from '../../support/service.ts';
import { WebServer } from '../../support/web-server.ts';
import { startSite } from './site.ts';

const site = await startSite();
const dead = await WebServer.start();
const { port: deadPort } = dead;
let service: TestService;
beforeAll(async () => {
  service = await TestService.start([
    '--pool',
    '0',
    '--allow',
    `localhost:${site.port}`,
    '--allow',
    `localhost:${deadPort}`,
  ]);
  await dead[Symbol.asyncDispose]();
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const denied = 'http://10.0.0.1/';
const opens = (...urls: string[]) =>
  `<button onclick='${urls.map((url) => `window.open("${url}")`).join(';')}'>Go</button>`;

describe.each([
  ['by host only', {}],
  ['that tells URLs apart', { policy: { block: ['font'] } }],
])('under a policy %s', (_, body) => {
  let session: string;
  const show = (html: string, tab?: string) =>
    service.post(`${session}/eval`, {
      expression: `document.body.innerHTML = ${JSON.stringify(html)}; 0`,
      tab,
    });
  const clickGo = async (html: string) => {
    await service.post(`${session}/navigate`, { url: site.url('/page') });
    await show(html);
    return service.post(`${session}/click`, { target: { text: 'Go' } });
  };
  // One for each test, so that the tabs of one are not in the way of another.
  beforeEach(async () => {
    session = await service.session(body);
  });
  afterEach(async () => {
    await service.delete(session);
  });

  test.each([
    ['a link', `<a target=_blank href="${denied}">Go</a>`],
    ['a link without an opener', `<a target=_blank rel=noopener href="${denied}">Go</a>`],
    ['a script', opens(denied)],
  ])('%s to a page that is denied is an error with the decision', async (_how, html) => {
    const { status, body: problem } = await clickGo(html);
    expect([status, problem.code, problem.decision?.verdict]).toEqual([403, 'policy_denied', 'deny']);
    expect(problem.decision.target).toContain('10.0.0.1');
  });

  test('one to a server that is not there is an error with what Chrome says', async () => {
    const { status, body: problem } = await clickGo(opens(`http://localhost:${deadPort}/`));
    expect([status, problem.code, problem.netError]).toEqual([
      502,
      'navigation_failed',
      'net::ERR_CONNECTION_REFUSED',
    ]);
  });

  test('where another page came, in a tab or in its own, the action has led somewhere', async () => {
    const one = await clickGo(opens(denied, site.url('/page?tab')));
    expect([one.status, one.body.newTabs?.length]).toEqual([200, 2]);
    const own = await clickGo(`<a href="${site.url('/page?own')}" onclick='window.open("${denied}")'>Go</a>`);
    expect([own.status, own.body.navigated]).toEqual([200, true]);
  });

  test('what another tab opens meanwhile is not told of this one', async () => {
    await service.post(`${session}/navigate`, { url: site.url('/page') });
    const { id } = (await service.post(`${session}/tabs`, { url: site.url('/page?noisy') })).body;
    await show('<input id=field>', 't1');
    const noise = `setInterval(() => { const w = open("http://user:word@localhost:${site.port}/"); setTimeout(() => w.close(), 50); }, 20); 0`;
    await service.post(`${session}/eval`, { expression: noise, tab: id });
    for (let n = 0; n < 5; n++) {
      const filled = await service.post(`${session}/fill`, { target: '#field', value: `${n}`, tab: 't1' });
      expect([filled.status, filled.body.newTabs]).toEqual([200, undefined]);
    }
  });
});
