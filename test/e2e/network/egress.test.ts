import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EgressProxy } from '../../support/proxies.ts';
import { TestService } from '../../support/service.ts';
import { closedPort } from '../../support/tcp-server.ts';
import { WebServer } from '../../support/web-server.ts';

const credentials = { user: 'alice', password: `pass-${randomBytes(9).toString('hex')}` };
const secret = credentials.password;
const site = await WebServer.start((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>there</title>');
});
const proxies = {
  socks5: await EgressProxy.socks5({ credentials }),
  http: await EgressProxy.http({ credentials }),
};
const dead = await closedPort();
let service: TestService;
/** With a pool the browser is older than the proxy; without one it is made for it. */
beforeAll(async () => {
  service = await TestService.start([
    ...['--log-level', 'trace', '--pool', '1'],
    ...['--allow', `localhost:${site.port}`, '--allow', `127.0.0.1:${proxies.socks5.port}`],
    ...['--allow', `127.0.0.1:${proxies.http.port}`, '--allow', `127.0.0.1:${dead}`],
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  for (const part of [site, proxies.socks5, proxies.http]) await part[Symbol.asyncDispose]();
});

/** Everything that the service says of a session, in one text. */
async function allThatIsSaid(session: string): Promise<string> {
  const paths = [session, '/v1/sessions', `${session}/policy`, `${session}/policy/decisions`, '/v1/doctor'];
  const answers = await Promise.all([...paths, '/metrics'].map((path) => service.get(path)));
  return answers.map(({ text }) => text).join('\n');
}

describe.each([
  ['socks5', 'headless-shell'],
  ['http', 'headless-shell'],
  ['socks5', 'chrome'],
] as const)('through a %s proxy, %s', (kind, engine) => {
  test('pages come through it, by address, and its credentials are never shown', async () => {
    const proxy = proxies[kind];
    const [before, connections] = [proxy.targets.length, site.connections];
    const egress = `${kind}://${credentials.user}:${secret}@127.0.0.1:${proxy.port}`;
    const created = await service.post('/v1/sessions', { engine, egress });
    expect(created.status, created.text).toBe(201);
    const session = `/v1/sessions/${created.body.id}`;
    const opened = await service.post(`${session}/navigate`, { url: site.url() });
    expect(opened.body).toMatchObject({ status: 200, title: 'there' });

    const asked = proxy.targets.slice(before);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.map(({ port }) => port)).toEqual(asked.map(() => site.port));
    expect(asked.filter(({ byName }) => byName)).toEqual([]);
    expect(site.connections - connections).toBe(asked.length);

    const shown = await service.get(session);
    expect(shown.body.egress).toBe(`${kind}://***@127.0.0.1:${proxy.port}`);
    const denied = await service.post(`${session}/navigate`, { url: `http://localhost:${dead}/` });
    expect(denied.body).toMatchObject({ code: 'policy_denied' });
    expect(proxy.targets.length).toBe(before + asked.length);
    const events = await eventsUntilDenial(session);
    const said = [created.text, opened.text, await allThatIsSaid(session), denied.text, events].join('\n');
    const closed = await service.delete(session);
    expect(closed.body.zero).toBe(true);
    for (const text of [said, closed.text, service.log]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(credentials.user);
    }
  });
});

/** The events of a session until now: the stream is left as soon as it has told of the denial. */
async function eventsUntilDenial(session: string): Promise<string> {
  const leave = new AbortController();
  const response = await fetch(`${service.baseUrl}${session}/events`, {
    headers: { authorization: `Bearer ${service.token}`, 'last-event-id': '0' },
    signal: leave.signal,
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('event: denial')) break;
  }
  leave.abort();
  return text;
}

test('a proxy that refuses the credentials, or is not there: the page does not load, and nothing goes around it', async () => {
  const wrong = `socks5://bob:wrong-word@127.0.0.1:${proxies.socks5.port}`;
  for (const egress of [wrong, `http://127.0.0.1:${dead}`]) {
    const connections = site.connections;
    const session = await service.session({ egress });
    const opened = await service.post(`${session}/navigate`, { url: site.url() });
    expect(opened.body).toMatchObject({ code: 'navigation_failed' });
    expect(opened.text).not.toMatch(/bob|wrong-word/);
    expect(site.connections).toBe(connections);
    await service.delete(session);
  }
});

test.each([
  '',
  'proxy.example:1080',
  `https://${credentials.user}:hidden-word@proxy.example`,
  `socks5://${credentials.user}:hidden-word@proxy.example/path`,
  `socks4://${credentials.user}:hidden-word@proxy.example`,
  `http://${credentials.user}:hidden-word%@proxy.example`,
  `socks5://u:hidden-word@proxy.example:0`,
  7,
  null,
  { url: 'socks5://hidden-word@proxy.example' },
])('%j is no proxy: 422 with the pointer, and it is not repeated', async (egress) => {
  const created = await service.post('/v1/sessions', { egress });
  expect(created.body).toMatchObject({ status: 422, code: 'invalid_request', pointer: '/egress' });
  expect(created.text + service.log).not.toContain('hidden-word');
});

test.each([
  ['socks5://hidden-word@127.0.0.1:1080', 'loopback'],
  ['http://x:hidden-word@10.0.0.1', 'private'],
  ['socks5://169.254.169.254', 'metadata'],
])('%s is a destination that the policy denies: no session', async (egress, reason) => {
  const created = await service.post('/v1/sessions', { egress });
  expect(created.body).toMatchObject({ status: 403, code: 'policy_denied', pointer: '/egress' });
  expect(created.body.decision).toMatchObject({ verdict: 'deny', reason });
  expect(created.text + service.log).not.toContain('hidden-word');
});

test("a session's narrower policy that does not name its proxy refuses it", async () => {
  const policy = { mode: 'allowlist', allow: [`localhost:${site.port}`] };
  const created = await service.post('/v1/sessions', {
    policy,
    egress: `socks5://127.0.0.1:${proxies.socks5.port}`,
  });
  expect(created.body).toMatchObject({ status: 403, decision: { verdict: 'deny' } });
});
