import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { installed } from '../support/real-chrome.ts';
import { TestService } from '../support/service.ts';

const noDisplay = { DISPLAY: undefined, WAYLAND_DISPLAY: undefined };

test('a window needs a display, and an engine that has windows', async () => {
  await using service = await TestService.start(['--pool', '0'], { env: noDisplay });
  const answer = await service.post('/v1/sessions', { headless: false });
  expect(answer.body).toMatchObject({
    status: 503,
    code: 'browser_unavailable',
    retryable: false,
    pointer: '/headless',
  });
  expect(answer.body.detail).toContain('DISPLAY');
  const shell = await service.post('/v1/sessions', { headless: false, engine: 'headless-shell' });
  expect(shell.body).toMatchObject({ status: 422, code: 'invalid_request', pointer: '/headless' });
  expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
  expect((await service.post('/v1/sessions', { headless: true })).status).toBe(201);
});

const xvfb = '/usr/bin/Xvfb';

test.skipIf(!existsSync(xvfb) || installed('chrome') === undefined)(
  'a session with a window opens one on the display, and is as another (skipped without Xvfb)',
  async () => {
    const display = spawn(xvfb, ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    try {
      const [number]: unknown[] = await once(display.stdio[3] as Readable, 'data');
      const DISPLAY = `:${String(number).trim()}`;
      await using site = await PageServer.open({ '/': '<title>seen</title><button>Press</button>' });
      await using service = await TestService.start(['--pool', '1', '--allow', `127.0.0.1:${site.port}`], {
        env: { ...noDisplay, DISPLAY },
      });
      const made = await service.post('/v1/sessions', { headless: false });
      expect(made.body).toMatchObject({ engine: 'chrome', state: 'ready' });
      const path = made.body.links.self;
      await service.post(`${path}/navigate`, { url: site.url('/') });
      // A headless Chrome calls itself so.
      const agent = await service.post(`${path}/eval`, { expression: 'navigator.userAgent' });
      expect(agent.body.value).not.toContain('Headless');
      expect((await service.post(`${path}/click`, { target: { text: 'Press' } })).body.ok).toBe(true);
      const chrome = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
        .trim()
        .split(' ');
      const command = chrome
        .map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
        .find((text) => text.includes(made.body.id));
      expect(command).toContain('--user-data-dir=');
      expect(command).not.toContain('--headless');
      const origin = 'https://shop.example';
      const items = [{ name: 'a', value: '1' }];
      const put = await service.call('PUT', `${path}/storage/local`, { body: { origin, items } });
      expect(put.body).toEqual({ origin, items });
      const receipt = await service.delete(path);
      expect(receipt.body).toMatchObject({ zero: true, processes: { survivors: 0 } });
    } finally {
      const ended = once(display, 'exit');
      display.kill('SIGTERM');
      await ended;
    }
  },
);
