/** What the log says of requests. */
import { expect, test } from 'vitest';
import { eventually } from '../support/processes.ts';
import { TestService } from '../support/service.ts';

interface Line {
  readonly msg: string;
  readonly reqId?: string;
  readonly req?: { method: string; url: string };
  readonly res?: { statusCode: number };
  readonly responseTime?: number;
}

async function linesOf(service: TestService, ids: readonly string[], count: number): Promise<Line[]> {
  const find = async () =>
    service.log
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line): Line => JSON.parse(line))
      .filter(({ reqId }) => ids.includes(reqId ?? ''));
  return eventually(find, (lines) => lines.length >= count);
}

test('each request has one line, with what came and what was answered', async () => {
  await using service = await TestService.start(['--log-level', 'info', '--pool', '0']);
  const good = await service.get('/v1/version', { headers: { 'x-request-id': 'mine-1' } });
  const bad = await service.get('/v1/sessions/nope');
  const ids = [good, bad].map(({ headers }) => headers.get('x-request-id') ?? '');
  const lines = await linesOf(service, ids, 2);
  expect(lines).toMatchObject([
    { reqId: 'mine-1', req: { method: 'GET', url: '/v1/version' }, res: { statusCode: 200 } },
    { reqId: ids[1], req: { method: 'GET', url: '/v1/sessions/nope' }, res: { statusCode: 404 } },
  ]);
  for (const { responseTime } of lines) expect(responseTime).toBeGreaterThan(0);
});

test('at debug a request also has a line as it comes in', async () => {
  await using service = await TestService.start(['--log-level', 'debug', '--pool', '0']);
  await service.get('/v1/version', { headers: { 'x-request-id': 'mine-2' } });
  const lines = await linesOf(service, ['mine-2'], 2);
  expect(lines.map(({ msg }) => msg)).toEqual(['incoming request', 'request completed']);
});

test('a request whose client went away has its line as well', async () => {
  await using service = await TestService.start(['--log-level', 'info', '--pool', '0']);
  const session = await service.session();
  const headers = { 'x-request-id': 'gone-1' };
  const body = { text: 'never there', timeoutMs: 60_000 };
  const left = service.post(`${session}/wait`, body, { headers, signal: AbortSignal.timeout(500) });
  await expect(left).rejects.toThrow();
  const events = await fetch(`${service.baseUrl}${session}/events`, {
    headers: { authorization: `Bearer ${service.token}`, 'x-request-id': 'gone-2' },
  });
  await events.body?.cancel();
  const lines = await linesOf(service, ['gone-1', 'gone-2'], 2);
  expect(lines).toMatchObject([
    { msg: 'request aborted', req: { method: 'POST', url: `${session}/wait` } },
    { msg: 'request aborted', req: { method: 'GET', url: `${session}/events` } },
  ]);
});
