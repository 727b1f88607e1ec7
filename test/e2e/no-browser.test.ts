import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findChrome } from '../../src/sessions/find-chrome.ts';
import { TestService } from '../support/service.ts';

/** No workspace of a session, and no process but the service itself. */
function left(service: TestService): string[] {
  const children = readdirSync(`/proc/${service.pid}/task`).flatMap((task) =>
    execFileSync('cat', [`/proc/${service.pid}/task/${task}/children`], { encoding: 'utf8' })
      .split(' ')
      .filter(Boolean),
  );
  const workspaces = readdirSync(join(service.root, 'r')).filter((name) =>
    name.startsWith('airlock-chrome-'),
  );
  return [...children, ...workspaces];
}

async function expectNoBrowser(service: TestService): Promise<void> {
  const answer = await service.post('/v1/sessions');
  expect(answer.body).toMatchObject({ status: 503, code: 'browser_unavailable' });
  expect(answer.body.suggestion).toContain('/v1/doctor');
  const ready = await service.get('/readyz', { anonymous: true });
  expect([ready.status, ready.body]).toEqual([503, { ready: false, reasons: ['no browser'] }]);
  expect((await service.get('/livez', { anonymous: true })).status).toBe(200);
  const doctor = await service.get('/v1/doctor');
  expect(doctor.body.checks).toContainEqual(expect.objectContaining({ name: 'browser', status: 'fail' }));
  expect((await service.get('/v1/version')).status).toBe(200);
  expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
  expect(left(service)).toEqual([]);
}

test('without a Chrome on the machine there is no session, it says so, and nothing is left', async ({
  skip,
}) => {
  if (process.getuid?.() !== 0) return skip('needs root, to hide the browsers of this machine');
  const hide = ['/usr/lib/chromium', '/opt'].filter((path) => existsSync(path));
  const mounts = hide.map((path) => `mount -t tmpfs none ${path}`).join(' && ');
  const root = await mkdtemp(join(tmpdir(), 'a-'));
  await using service = await TestService.start(['--pool', '1'], {
    root,
    under: ['/usr/bin/unshare', '-m', '/bin/sh', '-c', `${mounts} && PATH=/nowhere exec "$0" "$@"`],
    env: { HOME: root, PLAYWRIGHT_BROWSERS_PATH: undefined, PUPPETEER_CACHE_DIR: undefined },
  });
  await expectNoBrowser(service);
});

test('a browser that was named and is gone is missed; when it is there again, so are sessions', async () => {
  const real = findChrome({ engine: 'headless-shell' })?.path ?? '';
  const directory = await mkdtemp(join(tmpdir(), 'c-'));
  const path = join(directory, 'chrome-headless-shell');
  try {
    await symlink(real, path);
    await using service = await TestService.start(['--pool', '0', '--chrome', path]);
    await rm(path);
    await expectNoBrowser(service);
    await symlink(real, path);
    expect((await service.get('/readyz')).status).toBe(200);
    expect((await service.post('/v1/sessions')).status).toBe(201);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('without the engine that is asked for, and with another, it says which there are', async ({ skip }) => {
  if (process.getuid?.() !== 0) return skip('needs root, to hide a browser of this machine');
  const full = findChrome({ engine: 'chrome' })?.path ?? '';
  await using service = await TestService.start(['--pool', '0'], {
    under: [
      ...['/usr/bin/unshare', '-m', '/bin/sh', '-c'],
      `mount --bind /dev/null ${full} && exec "$0" "$@"`,
    ],
  });
  const answer = await service.post('/v1/sessions', { engine: 'chrome' });
  expect(answer.body).toMatchObject({ status: 503, code: 'browser_unavailable' });
  expect(answer.body.suggestion).toContain('GET /v1/version lists the browsers');
});
