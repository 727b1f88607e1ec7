import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { allow, deny } from '../../src/policy/decision.ts';
import { GuardHook } from '../../src/policy/guard-hook.ts';
import { narrowPolicy, parsePolicy } from '../../src/policy/policy.ts';
import { TestFloor } from '../support/floor.ts';
import { socksConnect } from '../support/socks-client.ts';
import { closedPort, TcpServer } from '../support/tcp-server.ts';

type Respond = (response: ServerResponse, question: unknown) => void;

/** A guard's endpoint that answers as the test says. */
async function endpoint(respond: Respond) {
  const questions: unknown[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    json(request).then(
      (question) => {
        questions.push(question);
        respond(response, question);
      },
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return {
    questions,
    port: address.port,
    url: `http://127.0.0.1:${address.port}/decide`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(body: unknown, status = 200): Respond {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

async function ask(respond: Respond, times = 1, timeoutMs?: number) {
  await using at = await endpoint(respond);
  const hook = new GuardHook({ url: at.url, timeoutMs, context: { session: 's1' } });
  try {
    const verdicts = [];
    for (let i = 0; i < times; i++)
      verdicts.push(await hook.narrow(allowed, { host: 'a.example', port: 443 }));
    return { verdicts, questions: at.questions };
  } finally {
    await hook.close();
  }
}

const allowed = allow({ rule: 'a.example', address: '192.0.2.1' });

describe('the guard hook', () => {
  test('is told host, port and context, and an allow hands on the decision that was given', async () => {
    const { verdicts, questions } = await ask(answer({ allow: true }));
    expect(verdicts[0]).toBe(allowed);
    expect(questions).toEqual([{ session: 's1', host: 'a.example', port: 443 }]);
  });

  test('a deny says why', async () => {
    const { verdicts } = await ask(answer({ allow: false, reason: 'not today' }));
    expect(verdicts[0]).toEqual(deny('guard', { rule: 'not today', address: '192.0.2.1' }));
  });

  test('is not asked about a deny, and cannot lift it', async () => {
    await using at = await endpoint(answer({ allow: true }));
    const hook = new GuardHook({ url: at.url });
    const denied = deny('metadata');
    expect(await hook.narrow(denied, { host: 'a.example', port: 80 })).toBe(denied);
    expect(at.questions).toEqual([]);
    await hook.close();
  });

  test.each<[string, Respond]>([
    ['another status', answer({ allow: true }, 201)],
    ['no content', answer('', 204)],
    ['a failure', answer({ allow: true }, 500)],
    ['a redirect', (response) => response.writeHead(307, { location: '/other' }).end()],
    ['an empty body', answer('')],
    ['no JSON', answer('yes')],
    ['JSON that is no object', answer('true')],
    ['null', answer('null')],
    ['no verdict', answer({})],
    ['text for a verdict', answer({ allow: 'true' })],
    ['a number for a verdict', answer({ allow: 1 })],
    ['a reason that is no text', answer({ allow: true, reason: {} })],
    ['a time that is no number', answer({ allow: true, ttlMs: '5' })],
    ['a negative time', answer({ allow: true, ttlMs: -1 })],
    ['more than it may say', answer({ allow: true, pad: 'x'.repeat(100_000) })],
    [
      'half an answer',
      (response) => response.writeHead(200, { 'content-length': 14 }).write('{"allow":true'),
    ],
    ['a broken connection', (response) => response.destroy()],
    ['nothing', () => undefined],
  ])('%s is a deny', async (_name, respond) => {
    const { verdicts } = await ask(respond, 1, 200);
    expect(verdicts[0]).toMatchObject({ verdict: 'deny', reason: 'guard' });
  });

  test('an endpoint that is down is a deny, and is asked again when it is back', async () => {
    const hook = new GuardHook({ url: `http://127.0.0.1:${await closedPort()}/` });
    expect(await hook.narrow(allowed, { host: 'a.example', port: 80 })).toMatchObject({ reason: 'guard' });
    await hook.close();
    let up = false;
    const { verdicts } = await ask((response, question) => {
      answer({ allow: true }, up ? 200 : 503)(response, question);
      up = true;
    }, 2);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['deny', 'allow']);
  });

  test('an answer is used again for its time, either way', async () => {
    for (const verdict of [true, false]) {
      expect((await ask(answer({ allow: verdict, ttlMs: 60_000 }), 3)).questions).toHaveLength(1);
      expect((await ask(answer({ allow: verdict }), 3)).questions).toHaveLength(3);
      expect((await ask(answer({ allow: verdict, ttlMs: 0 }), 2)).questions).toHaveLength(2);
    }
  });

  test('questions at one time are one question; different ones are not mixed up', async () => {
    await using at = await endpoint((response, question) => {
      const port =
        typeof question === 'object' && question !== null && 'port' in question ? question.port : 0;
      answer({ allow: port === 443, ttlMs: 60_000 })(response, question);
    });
    const hook = new GuardHook({ url: at.url });
    const questions = [443, 80, 443, 80].map((port) => ({ host: 'a.example', port }));
    const verdicts = await Promise.all(questions.map((question) => hook.narrow(allowed, question)));
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['allow', 'deny', 'allow', 'deny']);
    expect(at.questions).toHaveLength(2);
    const withUrl = { host: 'a.example', port: 443, url: 'https://a.example/x', method: 'POST' };
    await hook.narrow(allowed, withUrl);
    expect(at.questions.at(-1)).toEqual(withUrl);
    await hook.close();
  });

  test('closing turns what is being asked into a deny', async () => {
    const asked = Promise.withResolvers<void>();
    await using at = await endpoint(() => asked.resolve());
    const hook = new GuardHook({ url: at.url, timeoutMs: 30_000 });
    const verdict = hook.narrow(allowed, { host: 'a.example', port: 80 });
    await asked.promise;
    await hook.close();
    expect(await verdict).toMatchObject({ verdict: 'deny', reason: 'guard' });
  });
});

describe('a floor with a guard', () => {
  test('asks it after the rules and before DNS', async () => {
    await using server = await TcpServer.start();
    await using at = await endpoint((response, question) => {
      answer({ allow: JSON.stringify(question).includes('127.0.0.1') })(response, question);
    });
    await using all = await TestFloor.open({
      policy: { allow: [`127.0.0.1:${server.port}`], guard: { url: at.url } },
      guardContext: { session: 's1' },
    });
    const replies = [];
    for (const host of ['127.0.0.1', '10.0.0.1', 'A.Example.']) {
      const { client, reply } = await socksConnect(all.floor, host, server.port);
      client.socket.destroy();
      replies.push(reply);
    }
    expect(replies).toEqual([0, 2, 2]);
    expect(at.questions).toEqual([
      { session: 's1', host: '127.0.0.1', port: server.port },
      { session: 's1', host: 'a.example', port: server.port },
    ]);
    expect(all.dns.questions).toEqual([]);
    expect(all.floor.log.query({ verdict: 'deny' })).toMatchObject([{ stage: 'host' }, { stage: 'guard' }]);
  });

  test("a session's guard is reached by the session's own rules", async () => {
    await using server = await TcpServer.start();
    await using at = await endpoint(answer({ allow: true }));
    const target = `127.0.0.1:${server.port}`;
    const inner = parsePolicy({ guard: { url: at.url } });
    for (const [allow, code] of [
      [[target], 2],
      [[target, `127.0.0.1:${at.port}`], 0],
    ] as const) {
      await using all = await TestFloor.open({ policy: { allow: [...allow] } });
      all.floor.setPolicy(narrowPolicy(all.floor.policy, inner));
      const { client, reply } = await socksConnect(all.floor, '127.0.0.1', server.port);
      client.socket.destroy();
      expect(reply).toBe(code);
    }
    expect(at.questions).toHaveLength(1);
  });

  test('a guard that comes with a new policy is asked from then on', async () => {
    await using server = await TcpServer.start();
    await using at = await endpoint(answer({ allow: false }));
    const allow = [`127.0.0.1:${server.port}`];
    await using all = await TestFloor.open({ policy: { allow } });
    const before = await socksConnect(all.floor, '127.0.0.1', server.port);
    all.floor.setPolicy(parsePolicy({ allow, guard: { url: at.url } }));
    const after = await socksConnect(all.floor, '127.0.0.1', server.port);
    for (const { client } of [before, after]) client.socket.destroy();
    expect([before.reply, after.reply]).toEqual([0, 2]);
    expect(await all.floor.narrow(allowed, { host: 'a.example', port: 443 })).toMatchObject({
      reason: 'guard',
    });
  });
});
