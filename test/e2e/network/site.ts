/** The allowed site of the network tests: pages and scripts that try to reach somewhere else. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { anything, WebServer } from '../../support/web-server.ts';

/** Pages by path; everything else is answered with something harmless. */
export type Pages = Record<string, string | ((request: IncomingMessage, response: ServerResponse) => void)>;

export function startSite(pages: Pages = {}): Promise<WebServer> {
  return WebServer.start((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    const to = url.searchParams.get('t') ?? '';
    const page = pages[url.pathname];
    if (typeof page === 'function') page(request, response);
    else if (page !== undefined) html(response, page);
    else if (url.pathname === '/redirect') redirect(response, to);
    else if (url.pathname === '/refresh-meta')
      html(response, `<meta http-equiv=refresh content="0;url=${to}">`);
    else if (url.pathname === '/refresh-header') html(response, '', { refresh: `0;url=${to}` });
    else if (url.pathname === '/header-link') html(response, 'x', { link: `<${to}>; rel=preload; as=image` });
    else if (url.pathname === '/csp')
      html(response, blocked, { 'content-security-policy': `img-src 'none'; report-uri ${to}` });
    else if (url.pathname === '/reporting')
      html(response, blocked, {
        'reporting-endpoints': `x="${to}"`,
        'content-security-policy': `img-src 'none'; report-to x`,
      });
    else if (url.pathname.endsWith('/worker.js')) script(response, url);
    else anything(request, response);
  });
}

const blocked = '<img src=/blocked.png>';

export function html(response: ServerResponse, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers });
  response.end(`<!doctype html>${body}`);
}

export function redirect(response: ServerResponse, to: string, status = 302): void {
  response.writeHead(status, { location: to, 'access-control-allow-origin': '*' });
  response.end();
}

/** A worker that runs the code of its own query, with `t` as its target. */
function script(response: ServerResponse, url: URL): void {
  response.writeHead(200, { 'content-type': 'text/javascript' });
  const target = JSON.stringify(url.searchParams.get('t') ?? '');
  response.end(`const t = ${target};\n${url.searchParams.get('code') ?? ''}`);
}
