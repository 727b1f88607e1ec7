/** What is no http or https is shown from no entry and in no spelling: that of a caller, and those that a page has. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { PageHarness } from '../../support/page-harness.ts';
import { eventually } from '../../support/processes.ts';
import { engines, installed } from '../../support/real-chrome.ts';
import { TestService } from '../../support/service.ts';
import { startSite } from './site.ts';

const MARK = 'what-only-the-file-says';
const directory = await mkdtemp(join(tmpdir(), 'scheme-'));
const file = join(directory, 'page.html');
await writeFile(file, `<title>${MARK}</title><p>${MARK}`);
const site = await startSite();
let service: TestService;
beforeAll(async () => {
  service = await TestService.start(['--allow', `localhost:${site.port}`, '--allow', 'a.example']);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const SPELLINGS = [
  `file://${file}`,
  `FILE://${file}`,
  ` \tfile://${file}`,
  `\u0001file://${file}`,
  `fi\nle://${file}`,
  `file://localhost${file}`,
  `file:${file}`,
  `view-source:file://${file}`,
  `VIEW-SOURCE:file://${file}`,
  `filesystem:file://${file}`,
  `blob:file://${file}`,
  `blob:blob:file://${file}`,
  'chrome://version',
  'chrome-untrusted://terms/',
  'view-source:chrome://version',
  'devtools://devtools/bundled/inspector.html',
  `data:text/html,<title>${MARK}</title>`,
];

/** No header can hold a control character. */
const inHeader = (url: string) => !/\p{Cc}/u.test(url);
/** A page may make a frame of its own of data. */
const inFrame = (url: string) => !url.startsWith('data:');

/** How a page goes somewhere: an expression for it to run, or a page of the site that leads on. */
interface Entry {
  readonly name: string;
  readonly run?: string;
  readonly path?: string;
  readonly only?: (url: string) => boolean;
}

const ENTRIES: readonly Entry[] = [
  { name: 'window.open', run: 'open(URL_)' },
  { name: 'window.open without an opener', run: "open(URL_, '_blank', 'noopener')" },
  { name: 'location', run: 'location = URL_' },
  { name: 'location.replace', run: 'location.replace(URL_)' },
  { name: 'a link', run: "Object.assign(document.createElement('a'), { href: URL_ }).click()" },
  {
    name: 'a link to a new tab',
    run: "Object.assign(document.createElement('a'), { href: URL_, target: '_blank' }).click()",
  },
  {
    name: 'a form',
    run: "document.body.append(Object.assign(document.createElement('form'), { action: URL_ })); document.forms[0].submit()",
  },
  {
    name: 'the location of a popup',
    run: "{ const w = open('about:blank'); try { w.location = URL_ } catch {} }",
  },
  {
    name: 'a frame',
    run: "document.body.append(Object.assign(document.createElement('iframe'), { src: URL_ }))",
    only: inFrame,
  },
  { name: 'meta refresh', path: '/refresh-meta' },
  { name: 'Refresh header', path: '/refresh-header', only: inHeader },
  { name: 'redirect', path: '/redirect', only: inHeader },
];

/** Text and URL of all tabs, with their frames. */
async function shown(session: string): Promise<string> {
  const { body } = await service.get(`${session}/tabs`);
  const parts = await Promise.all(
    body.tabs.map(async ({ id }: { id: string }) => {
      const [frames, text] = await Promise.all([
        service.get(`${session}/frames?tab=${id}`),
        service.get(`${session}/text?tab=${id}`),
      ]);
      return frames.text + text.text;
    }),
  );
  return JSON.stringify(body.tabs) + parts.join('');
}

/** URLs of anything but the site, about:blank and Chrome's error page, and the text of the file. */
const FOREIGN = new RegExp(
  `"url":"(?!http://localhost|about:blank|chrome-error:|")|title":"${MARK}|^${MARK}`,
);

test('Chrome by itself shows the file, and what tells it is seen', async () => {
  await using chrome = await PageHarness.open();
  await chrome.tab.session.send('Page.navigate', { url: `file://${file}` });
  const title = () => chrome.run((op) => evaluate(op, { expression: 'document.title' }));
  await eventually(
    async () => (await title()).value,
    (value) => value === MARK,
  );
});

const policies = [
  ['by a policy of hosts', {}],
  ['by a policy of URLs', { deny: [{ host: 'a.example', path: '/x' }] }],
] as const;
const all = engines.flatMap((engine) =>
  policies.map(([name, policy]) => ({ engine, name, policy, path: installed(engine) })),
);

describe.for(all)('$engine, $name', { timeout: 120_000 }, ({ engine, policy, path }) => {
  test.skipIf(path === undefined)('a caller is told that it is denied', async () => {
    const session = await service.session({ engine, policy });
    for (const url of SPELLINGS) {
      for (const way of ['navigate', 'tabs']) {
        const { status, body } = await service.post(`${session}/${way}`, { url });
        expect([way, url, status, body.code]).toEqual([way, url, 403, 'policy_denied']);
      }
    }
    expect(await shown(session)).not.toMatch(FOREIGN);
    await service.delete(session);
  });

  test.skipIf(path === undefined).for(ENTRIES)('a page gets nowhere by $name', async (entry) => {
    const session = await service.session({ engine, policy });
    for (const url of SPELLINGS.filter(entry.only ?? Boolean)) {
      const start = entry.path ? `${entry.path}?t=${encodeURIComponent(url)}` : '/page';
      await service.post(`${session}/navigate`, { url: site.url(start) });
      if (entry.run === undefined) continue;
      const expression = `try { ${entry.run.replaceAll('URL_', JSON.stringify(url))} } catch {} 0`;
      await service.post(`${session}/eval`, { expression });
      // What the page began has begun when its next task runs.
      await service.post(`${session}/eval`, { expression: 'new Promise((done) => setTimeout(done, 20))' });
      expect([url, await shown(session)]).toEqual([url, expect.not.stringMatching(FOREIGN)]);
      const { body } = await service.get(`${session}/tabs`);
      for (const { id } of body.tabs.slice(1)) await service.delete(`${session}/tabs/${id}`);
    }
    expect(await shown(session)).not.toMatch(FOREIGN);
    await service.delete(session);
  });
});
