import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { eventually } from '../support/processes.ts';
import { engines, installed } from '../support/real-chrome.ts';
import { TestService } from '../support/service.ts';

const site = await PageServer.open({ '/': '<title>home</title>' });
const origin = new URL(site.url('/')).origin;
const flags = ['--pool', '1', '--allow', `127.0.0.1:${site.port}`];
const service = await TestService.start(flags);
const profiles = join(service.root, 'data', 'airlock', 'profiles');

afterEach(() => service.delete('/v1/sessions').then(() => undefined));
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

/** Pids whose command line has a text. */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

/** Leaves a cookie and an item in a session. */
async function leaveTraces(on: TestService, path: string): Promise<void> {
  await on.post(`${path}/navigate`, { url: site.url('/') });
  await on.post(`${path}/eval`, {
    expression: 'document.cookie = "kept=yes; max-age=3600"; localStorage.setItem("kept", "yes")',
  });
}

async function traces(on: TestService, path: string): Promise<unknown> {
  const { body } = await on.get(`${path}/state`);
  return {
    cookies: body.cookies.map((cookie: { name: string }) => cookie.name),
    origins: body.origins,
  };
}

const kept = { cookies: ['kept'], origins: [{ origin, localStorage: [{ name: 'kept', value: 'yes' }] }] };
const nothing = { cookies: [], origins: [] };

describe.each(engines.filter((engine) => installed(engine)))('%s', (engine) => {
  test('what a session leaves in a profile is there in the next; of the session nothing is', async () => {
    const name = `next-${engine}`;
    const made = await service.post('/v1/sessions', { engine, profile: name });
    expect(made.body).toMatchObject({ profileMode: 'persistent', profile: name });
    const path = made.body.links.self;
    await leaveTraces(service, path);
    const { body: receipt } = await service.delete(path);
    expect(receipt).toMatchObject({ zero: true, disk: { survivors: 0 }, processes: { survivors: 0 } });
    expect(receipt.problems).toBeUndefined();
    expect(readdirSync(join(service.root, 'r')).some((entry) => entry.includes(made.body.id))).toBe(false);
    expect(processesWith(join(profiles, name))).toEqual([]);
    expect(readdirSync(join(profiles, name)).filter((entry) => entry.startsWith('Singleton'))).toEqual([]);
    expect(statSync(join(profiles, name)).mode & 0o777).toBe(0o700);

    expect(await traces(service, await service.session({ engine, profile: name }))).toEqual(kept);
    expect(await traces(service, await service.session({ engine, profile: `other-${engine}` }))).toEqual(
      nothing,
    );
    expect(await traces(service, await service.session({ engine }))).toEqual(nothing);
  });

  test('a profile has one session, whichever service it is of', async () => {
    const name = `one-${engine}`;
    await using other = await TestService.start([
      ...flags,
      '--data-dir',
      join(service.root, 'data', 'airlock'),
    ]);
    const first = await service.session({ engine, profile: name });
    for (const on of [service, other]) {
      const second = await on.post('/v1/sessions', { engine, profile: name });
      expect(second.body).toMatchObject({ status: 409, code: 'profile_busy', retryable: true });
      const instead = await on.post('/v1/sessions', { engine, profile: name, onBusy: 'ephemeral' });
      expect(instead.status).toBe(201);
      expect(instead.body).toMatchObject({ profileMode: 'ephemeral' });
      expect(instead.body.profile).toBeUndefined();
    }
    await service.delete(first);
    const next = await other.post('/v1/sessions', { engine, profile: name, onBusy: 'ephemeral' });
    expect(next.body.profileMode).toBe('persistent');
  });

  test('a service that is killed keeps nobody out, and what was stored is stored', async () => {
    const name = `killed-${engine}`;
    const killed = await TestService.start(flags);
    const data = join(killed.root, 'data', 'airlock');
    await leaveTraces(killed, await killed.session({ engine, profile: name }));
    // Another instance, at once: the Chrome of the dead one may not have gone yet.
    await using other = await TestService.start([...flags, '--data-dir', data]);
    await killed.stop('SIGKILL');
    expect(await traces(other, await other.session({ engine, profile: name }))).toEqual(kept);
    await other.delete('/v1/sessions');
    // The same instance again.
    await using again = await TestService.start(flags, { root: killed.root });
    expect(processesWith(join(data, 'profiles', name))).toEqual([]);
    expect(await traces(again, await again.session({ engine, profile: name }))).toEqual(kept);
    const [receipt] = (await again.delete('/v1/sessions')).body.receipts;
    expect(receipt.zero).toBe(true);
  });

  test('a Chrome that dies gives its profile back, and so does a client that goes away', async () => {
    const name = `given-back-${engine}`;
    const path = await service.session({ engine, profile: name });
    const [chrome] = processesWith(`--user-data-dir=${join(profiles, name)}`).map(Number);
    process.kill(chrome ?? 0, 'SIGKILL');
    await eventually(
      () => service.get(path),
      (answer) => answer.status === 410 && answer.body.receipt !== undefined,
    );
    expect((await service.get(path)).body.receipt).toMatchObject({ zero: true, reason: 'crashed' });

    const controller = new AbortController();
    const call = service.post('/v1/sessions', { engine, profile: name }, { signal: controller.signal });
    await eventually(
      () => Promise.resolve(processesWith(`--user-data-dir=${join(profiles, name)}`)),
      (pids) => pids.length > 0,
    );
    controller.abort();
    await expect(call).rejects.toThrow();
    await eventually(
      () => service.post('/v1/sessions', { engine, profile: name }),
      (answer) => answer.status === 201,
    );
  });

  test('a lock that a killed Chrome left is no sign of life', async () => {
    const path = join(profiles, `stale-${engine}`);
    mkdirSync(path, { recursive: true, mode: 0o755 });
    symlinkSync(`elsewhere-${process.pid}`, join(path, 'SingletonLock'));
    symlinkSync('1234', join(path, 'SingletonCookie'));
    symlinkSync('/nowhere/SingletonSocket', join(path, 'SingletonSocket'));
    const made = await service.post('/v1/sessions', { engine, profile: `stale-${engine}` });
    expect(made.body.profileMode).toBe('persistent');
    expect(lstatSync(path).mode & 0o777).toBe(0o700);
  });

  test('who only names the profile is left alone', async () => {
    const name = `named-${engine}`;
    const path = await service.session({ engine, profile: name });
    const note = join(profiles, name, 'note');
    writeFileSync(note, '');
    const reader = spawn('tail', ['-f', note], { stdio: 'ignore' });
    onTestFinished(async () => {
      const ended = once(reader, 'exit');
      reader.kill('SIGKILL');
      await ended;
    });
    expect((await service.delete(path)).body.zero).toBe(true);
    expect([reader.exitCode, reader.signalCode]).toEqual([null, null]);
    expect(statSync(note).size).toBe(0);
  });
});

test.each(['.', '..', '', 'a/b', '../x', 'a b', 'é', 'x'.repeat(65), 'a\0'])(
  '%j is no name of a profile',
  async (profile) => {
    const answer = await service.post('/v1/sessions', { profile });
    expect(answer.body).toMatchObject({ status: 422, code: 'invalid_request', pointer: '/profile' });
  },
);

test('onBusy without a profile is a mistake', async () => {
  const answer = await service.post('/v1/sessions', { onBusy: 'ephemeral' });
  expect(answer.body).toMatchObject({ status: 422, code: 'invalid_request', pointer: '/onBusy' });
});

test('a profile that others may write to is not used', async () => {
  const path = join(profiles, 'open');
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  const answer = await service.post('/v1/sessions', { profile: 'open' });
  expect(answer.body).toMatchObject({ status: 500, code: 'internal' });
  expect(answer.body.detail).toContain('others may write');
});

test('a profile that is a link is not followed', async () => {
  mkdirSync(profiles, { recursive: true });
  symlinkSync(service.root, join(profiles, 'link'));
  const answer = await service.post('/v1/sessions', { profile: 'link' });
  expect(answer.body).toMatchObject({ status: 500, code: 'internal' });
  expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
});
