/**
 * Serves the pages of the bench, in a thread of its own so that it does not take turns with who measures. It counts what
 * is asked for, which is how a run knows that a page was really loaded.
 *
 *   /small /button /table?rows=N /cards?n=N /many /many/N.css|js|png /loop?n=X /big?mb=N
 *   /-/counts        the number of requests by path since the last reset, as JSON
 *   /-/reset         forgets the counts and closes idle connections, so that the next load opens new ones
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { noiseImage } from './noise-image.ts';
import { button, cards, loopPage, many, small, table } from './pages.ts';

/** How many origins the sub-resources of a page are spread over, as on the web. */
const origins: number = workerData;
const counts = new Map<string, number>();
const servers: Server[] = [];
const CHUNK = Buffer.alloc(1024 * 1024, 'airlock ');

const assets: Readonly<Record<string, readonly [string, string | Buffer]>> = {
  css: ['text/css', `.x{color:#123456}\n`.repeat(120)],
  js: ['text/javascript', `globalThis.loaded = (globalThis.loaded ?? 0) + 1;\n${'// filler\n'.repeat(1000)}`],
  png: ['image/png', noiseImage(52)],
};

/** Pages of many elements are made once, not in the time of whoever waits for them. */
const made = new Map<string, string>();

function remembered(key: string, make: () => string): string {
  const found = made.get(key) ?? make();
  made.set(key, found);
  return found;
}

function html(path: string, query: URLSearchParams): string | undefined {
  if (path === '/small') return small;
  if (path === '/button') return button;
  if (path === '/loop') return loopPage(query.get('n') ?? '');
  if (path === '/table') return remembered(`table ${query}`, () => table(Number(query.get('rows'))));
  if (path === '/cards') return remembered(`cards ${query}`, () => cards(Number(query.get('n'))));
  if (path === '/many') return remembered('many', () => many(servers.map(urlOf)));
  return undefined;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname.startsWith('/-/')) return control(pathname, response);
  counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
  response.setHeader('cache-control', 'no-store');
  if (pathname === '/big') return big(Number(searchParams.get('mb')), response);
  const text = html(pathname, searchParams);
  const [type, body] =
    text === undefined ? (assets[pathname.split('.')[1] ?? ''] ?? []) : ['text/html', text];
  if (type === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body);
}

function control(path: string, response: ServerResponse): void {
  const body = JSON.stringify(Object.fromEntries(counts));
  if (path === '/-/reset') {
    counts.clear();
    for (const server of servers) server.closeIdleConnections();
  }
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body);
}

async function big(megabytes: number, response: ServerResponse): Promise<void> {
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': megabytes * CHUNK.length,
    'access-control-allow-origin': '*',
  });
  const chunks = function* () {
    for (let i = 0; i < megabytes; i++) yield CHUNK;
  };
  await pipeline(Readable.from(chunks(), { objectMode: false }), response);
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (let i = 0; i < origins; i++) {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy()); // the reader went away
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
}
// A bare TCP source and sink for measuring the floor without HTTP: it sends until the other side has enough.
const source = new NetServer((socket) => {
  socket.on('error', () => socket.destroy());
  const send = (): void => {
    while (!socket.destroyed && socket.write(CHUNK));
  };
  socket.on('drain', send);
  send();
});
await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
parentPort?.postMessage({ urls: servers.map(urlOf), sourcePort: (source.address() as AddressInfo).port });
