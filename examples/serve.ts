/**
 * Serves the example pages on loopback: `npx node examples/serve.ts [--port N]` prints the address of each, one a line, and
 * serves until it is stopped. Port 0, the default, is any free one.
 *
 *   /todomvc/      a single-page app: Vue, with the style sheets of the TodoMVC project
 *   /swagger/      Swagger UI with the API of this service
 *   /vendor/NAME/  the files of the npm packages that it is built from
 */
import { createReadStream, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const packages = join(here, '../node_modules');

/** URL prefix → directory. Nothing else is served. */
const mounts: readonly (readonly [string, string])[] = [
  ['/todomvc/', join(here, 'todomvc')],
  ['/swagger/', join(here, 'swagger')],
  ['/openapi/', join(here, '../openapi')],
  ['/vendor/swagger-ui/', join(packages, 'swagger-ui-dist')],
  ['/vendor/vue/', join(packages, 'vue/dist')],
  ['/vendor/todomvc-app-css/', join(packages, 'todomvc-app-css')],
  ['/vendor/todomvc-common/', join(packages, 'todomvc-common')],
];

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/' || pathname === '/todomvc') {
    response.writeHead(302, { location: '/todomvc/' }).end();
    return;
  }
  const file = fileFor(pathname);
  const type = file === undefined ? undefined : types[extname(file)];
  if (file === undefined || type === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
    return;
  }
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
  createReadStream(file).pipe(response);
}

/** The file of a path, which has no way out of its directory: URL has resolved each "..", and what is encoded is no file. */
function fileFor(pathname: string): string | undefined {
  const mount = mounts.find(([prefix]) => pathname.startsWith(prefix));
  if (mount === undefined || !/^[\w./-]+$/.test(pathname)) return undefined;
  const rest = pathname.slice(mount[0].length) || 'index.html';
  const file = join(mount[1], rest);
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
}

/** Starts the server on 127.0.0.1 and returns it with its base URL. */
export async function serveExamples(port: number): Promise<{ url: string; close: () => void }> {
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const HELP = `Usage: npx node examples/serve.ts [--port N]

Serves the example pages on 127.0.0.1 until it is stopped; port 0, the default, is any free one.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '0' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const port = Number(values.port);
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) throw new Error(`--port ${values.port} is no port`);
  const { url, close } = await serveExamples(port);
  console.log(`${url}/todomvc/\n${url}/swagger/`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, close);
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    const said = error instanceof Error ? error.message : String(error);
    const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    console.error(`serve: ${inUse ? 'the port is in use' : said.split('. ')[0]}`);
    process.exitCode = 2;
  });
}
