import { readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { PageServer } from '../support/page-harness.ts';
import { engines, installed } from '../support/real-chrome.ts';
import { TestService } from '../support/service.ts';

const MiB = 1024 * 1024;
const denied = await PageServer.open({ '/x': 'must not be asked for' });
const file =
  (name: string, body: string | Buffer) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response
      .writeHead(200, {
        'content-type': 'application/octet-stream',
        'cache-control': 'no-store', // what Chrome caches counts as well
        'content-disposition': `attachment; filename="${name}"`,
      })
      .end(body);
  };
const site = await PageServer.open({
  '/': `<a href="/report" download>report</a><a href="/odd">odd</a><a href="/setup">setup</a><a href="/huge">huge</a>
    <a href="/endless">endless</a><a download="made.txt" href="data:text/plain,made%20here">made</a>
    <a href="${denied.url('/x')}" download>denied</a>`,
  '/report': file('report.pdf', '%PDF'),
  '/odd': file('..%2F..%2F.bashrc', 'x'),
  '/setup': file('setup.exe', 'MZ'),
  '/huge': file('huge.bin', Buffer.alloc(80 * MiB)),
  // Says how long it will be, and never gets there.
  '/endless': (_request, response) => {
    response.writeHead(200, {
      'content-disposition': 'attachment; filename=endless.bin',
      'content-length': String(1000 * MiB),
    });
    response.write(Buffer.alloc(MiB));
  },
});
const service = await TestService.start([
  '--pool',
  '1',
  '--disk-quota',
  '64',
  '--allow',
  `127.0.0.1:${site.port}`,
]);
afterEach(() => service.delete('/v1/sessions').then(() => undefined));
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await denied[Symbol.asyncDispose]();
});

interface Told {
  state: string;
  suggestedName: string;
  name?: string;
  mime?: string;
  bytes: number;
  error?: string;
}

/** The downloads, once none is under way. */
async function settled(path: string, count: number): Promise<Told[]> {
  for (;;) {
    const downloads: Told[] = (await service.get(`${path}/downloads`)).body.downloads;
    if (downloads.length >= count && downloads.every(({ state }) => state !== 'inProgress')) return downloads;
    await delay(20);
  }
}

async function open(body: object): Promise<string> {
  const path = await service.session({ ...body });
  await service.post(`${path}/navigate`, { url: site.url('/') });
  return path;
}

const click = (path: string, text: string) => service.post(`${path}/click`, { target: { text } });

describe.each(engines.filter((engine) => installed(engine)))('%s', (engine) => {
  test('allowed, a download is a file of the session under its name, and none takes the place of another', async () => {
    const path = await open({ engine, downloads: 'allow' });
    const first = await click(path, 'report');
    expect(first.body.downloads).toMatchObject([{ suggestedName: 'report.pdf', url: site.url('/report') }]);
    await settled(path, 1);
    await click(path, 'report');
    await settled(path, 2);
    for (const text of ['odd', 'setup', 'made']) {
      const before = (await settled(path, 0)).length;
      await click(path, text);
      await settled(path, before + 1);
    }
    const downloads = await settled(path, 5);
    expect(downloads.map(({ state }) => state)).toEqual(Array(5).fill('completed'));
    expect(downloads.slice(2).map(({ mime }) => mime)).toEqual([
      'application/octet-stream',
      'application/octet-stream',
      'text/plain',
    ]);
    const names = downloads.map(({ name }) => name);
    expect(names[0]).toBe('report.pdf');
    expect(names[1]).toBe('report (1).pdf');
    expect(names[2]).toMatch(/^[^/.][^/]*bashrc$/);
    expect(names.slice(3)).toEqual(['setup.exe', 'made.txt']);
    const files = (await service.get(`${path}/files`)).body.files.map((one: { name: string }) => one.name);
    expect(files.sort()).toEqual([...names].sort());
    expect((await service.get(`${path}/files/report%20(1).pdf`)).text).toBe('%PDF');
    expect((await service.get(`${path}/files/made.txt`)).text).toBe('made here');
    const events = await fetch(`${service.baseUrl}${path}/events`, {
      headers: { authorization: `Bearer ${service.token}` },
    });
    const { receipts } = (await service.delete('/v1/sessions')).body;
    expect(receipts[0].zero).toBe(true);
    const told = [...(await events.text()).matchAll(/^event: download\ndata: (.*)$/gm)].map(([, data = '']) =>
      JSON.parse(data),
    );
    expect(told.map(({ state, name }) => [state, name])).toEqual(
      names.flatMap((name) => [
        ['inProgress', undefined],
        ['completed', name],
      ]),
    );
  });

  test('by default nothing is saved', async () => {
    const path = await open({ engine });
    await click(path, 'report');
    expect(await settled(path, 1)).toMatchObject([{ state: 'denied', suggestedName: 'report.pdf' }]);
    const navigated = await service.post(`${path}/navigate`, { url: site.url('/report') });
    expect(navigated.body).toMatchObject({
      download: true,
      downloads: [{ state: 'denied', suggestedName: 'report.pdf', url: site.url('/report') }],
    });
    expect((await service.get(`${path}/files`)).body.files).toEqual([]);
  });

  test('a pooled browser that saved nothing for the pool does so for its session', async () => {
    const path = await open({ downloads: 'allow' });
    await click(path, 'report');
    expect(await settled(path, 1)).toMatchObject([{ state: 'completed', name: 'report.pdf' }]);
  });

  test.each(['huge', 'endless'])(
    '%s: what does not fit the quota is ended, and the session goes on',
    async (name) => {
      const path = await open({ engine, downloads: 'allow' });
      await click(path, name);
      const [download] = await settled(path, 1);
      expect(download).toMatchObject({ state: 'canceled', suggestedName: `${name}.bin` });
      expect(download?.error).toMatch(/may store/);
      expect((await service.get(`${path}/files`)).body.files).toEqual([]);
      expect((await service.get(path)).body.state).toBe('ready');
      await click(path, 'report');
      expect((await settled(path, 2))[1]).toMatchObject({ state: 'completed', name: 'report.pdf' });
      const workspace = join(service.root, 'r', `airlock-chrome-${path.split('/').pop()}`);
      expect(readdirSync(join(workspace, 'tmp', 'incoming'))).toEqual([]);
    },
  );

  test('what the policy denies is not downloaded', async () => {
    const path = await open({ engine, downloads: 'allow' });
    await click(path, 'denied');
    const { decisions } = (await service.get(`${path}/policy/decisions?verdict=deny`)).body;
    // By the guard, with the whole URL, and by the floor.
    const target = expect.stringContaining(String(denied.port));
    expect(decisions).toMatchObject([
      { verdict: 'deny', stage: 'url', target },
      { verdict: 'deny', stage: 'host', target },
    ]);
    expect(denied.requests).toEqual([]);
    expect((await service.get(`${path}/files`)).body.files).toEqual([]);
  });
});
