import { expect, test } from 'vitest';
import { clearCookies, deleteCookie, getCookies, setCookies } from '../../../src/page/cookies.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { engines, PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

test.each(engines)(
  '%s: partitioned cookies are read, set back, deleted and cleared by their key',
  async (engine) => {
    await using server = await PageServer.open({
      '/': (request, response) => {
        const { port } = new URL(`http://${request.headers.host}/`);
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end(`<iframe src="http://localhost:${port}/in"></iframe>`);
      },
      '/in': (_, response) => {
        const cookie = 'p=1; Path=/; Secure; SameSite=None; Partitioned';
        response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': cookie }).end('in');
      },
    });
    await using chrome = await PageHarness.open({ engine });
    await chrome.run((op) => navigate(op, { url: server.url('/') }));
    await chrome.run((op) =>
      setCookies(op, { cookies: [{ name: 'p', value: '2', domain: 'localhost', path: '/' }] }),
    );

    const all = () => chrome.run((op) => getCookies(op, { name: 'p' }));
    const read = await all();
    const partitionKey = { topLevelSite: 'http://127.0.0.1', hasCrossSiteAncestor: true };
    const plain = read.cookies.find((cookie) => cookie.partitionKey === undefined);
    const partitioned = read.cookies.find((cookie) => cookie.partitionKey !== undefined);
    expect(read.cookies).toHaveLength(2);
    expect(plain).toMatchObject({ value: '2', domain: 'localhost' });
    expect(partitioned).toMatchObject({ value: '1', domain: 'localhost', partitionKey });
    expect((await chrome.run((op) => getCookies(op, { partitionKey }))).cookies).toEqual([partitioned]);

    const setBack = await chrome.run((op) => setCookies(op, { cookies: read.cookies }));
    expect(setBack.cookies).toEqual(read.cookies);
    expect(await all()).toEqual(read);
    expect(await chrome.run(clearCookies)).toEqual({ cleared: 2 });
    expect(await all()).toEqual({ cookies: [] });
    await chrome.run((op) => setCookies(op, { cookies: read.cookies }));
    expect((await all()).cookies).toHaveLength(2);

    expect(await chrome.run((op) => deleteCookie(op, { name: 'p' }))).toEqual({ deleted: [plain] });
    expect((await all()).cookies).toEqual([partitioned]);
    const problem = await problemOf(chrome.run((op) => deleteCookie(op, { name: 'p' })));
    expect(problem).toMatchObject({
      code: 'cookie_not_found',
      extra: { partitioned: [{ name: 'p', partitionKey }] },
    });
    expect(await chrome.run((op) => deleteCookie(op, { name: 'p', partitionKey }))).toEqual({
      deleted: [partitioned],
    });
    expect((await all()).cookies).toEqual([]);
  },
);
