import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, bench, launch } from './harness.ts';
import { compare, type Difference } from './oracle.ts';

const require = createRequire(import.meta.url);
const swagger = join(dirname(require.resolve('@fastify/swagger-ui/package.json')), 'static');
const gallery = join(dirname(require.resolve('govuk-frontend/package.json')), 'dist/govuk');

let browser: Browser;
let page: Bench;
let server: Server;
let origin: string;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
  server = createServer((request, response) => {
    const name = request.url ?? '/';
    if (name === '/page') response.setHeader('content-type', 'text/html').end(apiBrowser);
    else if (/^\/swagger-ui(-bundle)?\.(js|css)$/.test(name)) response.end(readFileSync(join(swagger, name)));
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

/** The differences that are meant. */
function unexpected(differences: Difference[]): Difference[] {
  return differences.filter(({ engine, ours, element }) => {
    // The engine takes display: table for a layout table, whatever the element.
    if (engine === 'LayoutTable' && ours === 'generic') return false;
    // The engine reads a line break where a word may be broken.
    return !(element.includes('<wbr>') || /opblock-summary|data-path/.test(element));
  });
}

const spec = {
  openapi: '3.0.0',
  info: { title: 'Pets', version: '1.2', description: 'A *pet* store' },
  servers: [{ url: 'http://127.0.0.1/v1' }],
  tags: [{ name: 'pet', description: 'All pets' }],
  paths: {
    '/pets': {
      get: {
        tags: ['pet'],
        summary: 'List',
        parameters: [
          { name: 'limit', in: 'query', required: true, schema: { type: 'integer', enum: [1, 2, 3] } },
        ],
        responses: { 200: { description: 'ok' } },
      },
      post: {
        tags: ['pet'],
        deprecated: true,
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
        responses: { 201: { description: 'made' }, default: { description: 'error' } },
      },
    },
  },
  components: {
    schemas: { Pet: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
  },
};

const apiBrowser = `<!doctype html><meta charset=utf-8><title>API</title><link rel=stylesheet href=/swagger-ui.css>
<div id=ui></div><script src=/swagger-ui-bundle.js></script>
<script>SwaggerUIBundle({spec: ${JSON.stringify(spec)}, dom_id: '#ui', docExpansion: 'full', tryItOutEnabled: true})</script>`;

describe('real pages agree with the engine', () => {
  it('an API browser (swagger-ui), operations open', async () => {
    await page.page.goto(`${origin}/page`);
    await page.page.waitForSelector('.opblock-deprecated');
    await page.page.waitForFunction('document.querySelector(".loading-container") === null');
    await page.inject();
    expect(unexpected(await compare(page))).toEqual([]);
    expect(await page.text()).toMatch(/button "POST \/pets/i);
  });

  const components = join(gallery, 'components');
  const names = readdirSync(components).filter((name) =>
    existsSync(join(components, name, 'template-default.html')),
  );
  it.each(names)('a component gallery (govuk-frontend): %s', async (name) => {
    const css = readFileSync(join(gallery, 'govuk-frontend.min.css'), 'utf8');
    const files = readdirSync(join(components, name)).filter((file) => file.endsWith('.html'));
    const html = files.map((file) => readFileSync(join(components, name, file), 'utf8')).join('\n');
    await page.load(`<title>${name}</title><style>${css}</style><body class="govuk-template__body">${html}`);
    expect(unexpected(await compare(page))).toEqual([]);
  });
});
