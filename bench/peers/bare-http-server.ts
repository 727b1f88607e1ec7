/** The process of {@link BareHttp}: told by its parent what to start, it ends with its parent. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import puppeteer from 'puppeteer-core';
import { check } from '../json-client.ts';

interface Order {
  readonly path: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly url: string;
}

const [order]: Order[] = await once(process, 'message');
check(order !== undefined, 'nothing was ordered');
const { path, args, env, url } = order;
const browser = await puppeteer.launch({
  executablePath: path,
  pipe: true,
  ignoreDefaultArgs: true,
  args,
  env,
  defaultViewport: null,
});
process.once('disconnect', () => void browser.close().finally(() => process.exit()));
const [page] = await browser.pages();
check(page !== undefined, 'puppeteer has no page');
await page.goto(url);
const cdp = await page.createCDPSession();
const server = createServer((request, response) => {
  json(request)
    .then((input) => cdp.send('Runtime.evaluate', { ...expressionOf(input), returnByValue: true }))
    .then(({ result }) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ value: result.value }));
    })
    .catch((error: unknown) => response.writeHead(500).end(String(error)));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
check(address !== null && typeof address === 'object', 'the bare server does not listen');
process.send?.(`http://127.0.0.1:${address.port}`);

function expressionOf(input: unknown): { expression: string } {
  const expression = typeof input === 'object' && input !== null && 'expression' in input && input.expression;
  check(typeof expression === 'string', 'no expression');
  return { expression };
}
