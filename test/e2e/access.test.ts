import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** Sends bytes as they are and gives all that comes back. */
async function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.end(text);
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  await once(socket, 'close');
  return answer;
}

test.each(['/livez', '/readyz', '/openapi.json', '/docs/'])('%s answers without a token', async (path) => {
  expect((await service.get(path, { anonymous: true })).status).toBe(200);
});

test.each(['/v1/sessions', '/v1/version', '/v1/capabilities', '/v1/doctor', '/problems/timeout', '/nosuch'])(
  '%s needs the token',
  async (path) => {
    const none = await service.get(path, { anonymous: true });
    expect([none.status, none.body.code]).toEqual([401, 'unauthorized']);
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    const wrong = await service.get(path, {
      anonymous: true,
      headers: { authorization: 'Bearer wrong-token-0000' },
    });
    expect(wrong.status).toBe(401);
  },
);

test.each([
  ['a foreign origin', { origin: 'http://evil.example' }],
  ['an opaque origin', { origin: 'null' }],
  ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
  ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }],
  ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site' }],
])('a request of a web page is refused: %s', async (_name, headers) => {
  const { hostname, port } = new URL(service.baseUrl);
  const request = httpRequest({
    hostname,
    port,
    path: '/v1/sessions',
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
  });
  request.end('{}');
  const [response] = await once(request, 'response');
  expect(response.statusCode).toBe(403);
  expect(response.headers['access-control-allow-origin']).toBeUndefined();
  response.resume();
  expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
});

test('a preflight gets no permission', async () => {
  const answer = await raw(
    `OPTIONS /v1/sessions HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 403/);
  expect(answer.toLowerCase()).not.toContain('access-control-allow');
});

test.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'localhost.evil.example', ''])(
  'the Host header %j is refused: names can be rebound',
  async (host) => {
    const answer = await raw(`GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 421/);
  },
);

test.each(['localhost', '127.0.0.1:9', '[::1]:7320', '10.0.0.7'])(
  'the Host header %j is served',
  async (host) => {
    const answer = await raw(`GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
  },
);

test('a form body, which a page can send without asking, is refused', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
    const answer = await service.call('POST', '/v1/sessions', {
      headers: { 'content-type': type },
      body: {},
    });
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
  }
});

test('on a Unix socket the mode of the file is the authentication', async () => {
  const path = join(service.root, 'api.sock');
  await using other = await TestService.start(['--socket', path]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const request = httpRequest({ socketPath: path, path: '/v1/version', headers: { host: 'localhost' } });
  request.end();
  const [response] = await once(request, 'response');
  response.resume();
  expect(response.statusCode).toBe(200);
  expect((await other.get('/v1/version', { anonymous: true })).status).toBe(401);
});
