/**
 * Every way we know in which a page makes a request. `T` is where it goes, `S` the page's own origin, `F` a function that
 * adds an element to the page. Where an attempt needs a script of its own, the site serves it (`site.ts`).
 */

import { expect } from 'vitest';
import type { TestService } from '../../support/service.ts';
import type { WebServer } from '../../support/web-server.ts';

export interface Attempt {
  readonly name: string;
  /** Body of an async function in the page; what it throws is ignored. */
  readonly js: string;
  /** The only engine in which it sends something when nothing is denied; `none`: where it would, is said beside it. */
  readonly sends?: 'chrome' | 'headless-shell' | 'none';
  /** Needs a click of its own: full Chrome lets each click open one window. */
  readonly click?: true;
  /** Not shown to the URL level by Chromium: path and method rules do not reach it. */
  readonly unseen?: boolean;
}

const element = (name: string, tag: string, attributes: string): Attempt => ({
  name,
  js: `F('${tag}', ${attributes})`,
});

const link = (name: string, rel: string, more = ''): Attempt =>
  element(name, 'link', `{ rel: '${rel}', href: T${more} }`);

const worker = (name: string, code: string): Attempt => ({
  name,
  js: `new Worker(S + '/worker.js?code=' + encodeURIComponent(${JSON.stringify(code)}) + '&t=' + encodeURIComponent(T))`,
});

const elements: readonly Attempt[] = [
  element('img', 'img', '{ src: T }'),
  element('img-srcset', 'img', `{ srcset: T + ' 1x' }`),
  element('input-image', 'input', `{ type: 'image', src: T }`),
  element('script', 'script', '{ src: T }'),
  element('module', 'script', `{ type: 'module', src: T }`),
  element('iframe', 'iframe', '{ src: T }'),
  element('object', 'object', '{ data: T }'),
  element('embed', 'embed', '{ src: T }'),
  element('video', 'video', `{ src: T, preload: 'auto' }`),
  element('audio', 'audio', `{ src: T, preload: 'auto' }`),
  element('poster', 'video', '{ poster: T }'),
  link('stylesheet', 'stylesheet'),
  link('prefetch', 'prefetch'),
  link('preload', 'preload', `, as: 'image'`),
  link('modulepreload', 'modulepreload'),
  {
    name: 'track',
    js: `const v = F('video', {}); const t = document.createElement('track'); Object.assign(t, { src: T, default: true, kind: 'captions' }); v.crossOrigin = 'anonymous'; v.append(t); t.track.mode = 'showing'`,
  },
  { name: 'css-import', js: `F('style', { textContent: '@import url(' + T + ');' })` },
  { name: 'css-background', js: `F('div', { textContent: 'x' }).style.background = 'url(' + T + ')'` },
  { name: 'css-cursor', js: `F('div', { textContent: 'x' }).style.borderImage = 'url(' + T + ') 1'` },
  { name: 'font', js: `await new FontFace('f' + Math.random(), 'url(' + T + ')').load()` },
  {
    name: 'svg-image',
    js: `F('div', { innerHTML: '<svg><image href="' + T + '" width=9 height=9 /></svg>' })`,
  },
  {
    name: 'svg-feimage',
    js: `F('div', { innerHTML: '<svg><filter id=q><feImage href="' + T + '"/></filter><rect width=9 height=9 filter="url(#q)"/></svg>' })`,
  },
  { name: 'srcdoc', js: `F('iframe', { srcdoc: '<img src="' + T + '">' })` },
  { name: 'data-frame', js: `F('iframe', { src: 'data:text/html,<img src="' + T + '">' })` },
  {
    name: 'blob-frame',
    js: `F('iframe', { src: URL.createObjectURL(new Blob(['<img src="' + T + '">'], { type: 'text/html' })) })`,
  },
];

const connections: readonly Attempt[] = [
  { name: 'fetch', js: `await fetch(T, { mode: 'no-cors' })` },
  { name: 'fetch-cors', js: `await fetch(T, { method: 'PUT', headers: { x: '1' } })` },
  {
    name: 'fetch-keepalive',
    js: `fetch(T, { mode: 'no-cors', method: 'POST', body: 'x', keepalive: true }).catch(() => 0)`,
  },
  { name: 'xhr', js: `const x = new XMLHttpRequest(); x.open('POST', T); x.send('x')` },
  { name: 'cache-add', js: `await (await caches.open('c')).add(new Request(T, { mode: 'no-cors' }))` },
  { name: 'beacon', js: `navigator.sendBeacon(T, 'x')` },
  { name: 'eventsource', js: `new EventSource(T)` },
  { name: 'websocket', js: `new WebSocket(T.replace('http', 'ws'))`, unseen: true },
  { name: 'import', js: `await import(T)` },
  { name: 'json-module', js: `await import(T, { with: { type: 'json' } })` },
  { name: 'audio-worklet', js: `await new AudioContext().audioWorklet.addModule(T)` },
  { name: 'paint-worklet', js: `await CSS.paintWorklet.addModule(T)` },
  // The shell has no such thing, and full Chrome's is off with its predictions.
  { name: 'preconnect', sends: 'none', js: `F('link', { rel: 'preconnect', href: T })`, unseen: true },
  {
    // To another origin only where there is no proxy.
    name: 'speculation',
    sends: 'none',
    js: `F('script', { type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ source: 'list', urls: [T], eagerness: 'immediate' }] }) })`,
    unseen: true,
  },
  {
    // Turned into a prefetch: tabs under a debugger prerender nothing.
    name: 'prerender',
    sends: 'none',
    js: `F('script', { type: 'speculationrules', textContent: JSON.stringify({ prerender: [{ source: 'list', urls: [T], eagerness: 'immediate' }] }) })`,
    unseen: true,
  },
  {
    name: 'fetch-later',
    js: `if (window.fetchLater) fetchLater(T, { activateAfter: 0 }); else await fetch(T, { mode: 'no-cors' })`,
  },
];

const navigations: readonly Attempt[] = [
  {
    name: 'form-get',
    js: `const f = F('form', { action: T, target: 'form-get' }); F('iframe', { name: 'form-get' }); f.submit()`,
  },
  {
    name: 'form-post',
    js: `const f = F('form', { action: T, method: 'post', target: 'form-post' }); F('iframe', { name: 'form-post' }); f.submit()`,
  },
  {
    name: 'download',
    js: `F('iframe', { name: 'download' }); F('a', { href: T, download: 'x.bin', target: 'download' }).click()`,
  },
  {
    name: 'link',
    js: `F('iframe', { name: 'link-frame' }); F('a', { href: T, target: 'link-frame' }).click()`,
  },
  { name: 'ping', js: `F('a', { href: '#', ping: T }).click()`, sends: 'headless-shell' },
  { name: 'popup', click: true, js: `window.open(T, '', 'width=300,height=300')` },
  {
    name: 'popup-noopener',
    click: true,
    js: `F('a', { href: T, target: '_blank', rel: 'noopener' }).click()`,
  },
  {
    name: 'popup-later',
    click: true,
    js: `window.open('about:blank').location.href = T`,
  },
  { name: 'redirect-frame', js: `F('iframe', { src: S + '/redirect?t=' + encodeURIComponent(T) })` },
  { name: 'redirect-image', js: `F('img', { src: S + '/redirect?t=' + encodeURIComponent(T) })` },
  {
    name: 'redirect-fetch',
    js: `await fetch(S + '/redirect?t=' + encodeURIComponent(T), { mode: 'no-cors' })`,
  },
  {
    name: 'redirect-twice',
    js: `await fetch(S + '/redirect?t=' + encodeURIComponent(S + '/redirect?t=' + encodeURIComponent(T)), { mode: 'no-cors' })`,
  },
  { name: 'meta-refresh', js: `F('iframe', { src: S + '/refresh-meta?t=' + encodeURIComponent(T) })` },
  { name: 'header-refresh', js: `F('iframe', { src: S + '/refresh-header?t=' + encodeURIComponent(T) })` },
  {
    name: 'frame-location',
    js: `F('iframe', { src: S + '/empty' }).onload = (e) => { e.target.onload = null; e.target.contentWindow.location.href = T; }`,
  },
  { name: 'header-preload', js: `F('iframe', { src: S + '/header-link?t=' + encodeURIComponent(T) })` },
  { name: 'csp-report', js: `F('iframe', { src: S + '/csp?t=' + encodeURIComponent(T) })` },
  {
    // Endpoints must be https; test/slow has one.
    name: 'reporting-api',
    sends: 'none',
    js: `const i = F('iframe', { src: S + '/reporting?t=' + encodeURIComponent(T) }); i.onload = () => setTimeout(() => i.remove(), 500)`,
    unseen: true,
  },
];

const workers: readonly Attempt[] = [
  worker('worker-fetch', `fetch(t, { mode: 'no-cors' })`),
  worker('worker-xhr', `const x = new XMLHttpRequest(); x.open('GET', t); x.send()`),
  worker('worker-import', `importScripts(t)`),
  worker('worker-eventsource', `new EventSource(t)`),
  { ...worker('worker-websocket', `new WebSocket(t.replace('http', 'ws'))`), unseen: true },
  worker(
    'worker-nested',
    `new Worker('/worker.js?code=' + encodeURIComponent("fetch(t, { mode: 'no-cors' })") + '&t=' + encodeURIComponent(t))`,
  ),
  worker(
    'worker-blob',
    `new Worker(URL.createObjectURL(new Blob(["fetch('" + t + "', { mode: 'no-cors' })"])))`,
  ),
  {
    name: 'worker-module',
    js: `new Worker(URL.createObjectURL(new Blob(["import '" + T + "'"], { type: 'text/javascript' })), { type: 'module' })`,
  },
  {
    name: 'shared-fetch',
    js: `new SharedWorker(S + '/worker.js?code=' + encodeURIComponent("fetch(t, { mode: 'no-cors' })") + '&t=' + encodeURIComponent(T))`,
  },
  {
    name: 'shared-import',
    js: `new SharedWorker(S + '/worker.js?code=' + encodeURIComponent('importScripts(t)') + '&t=' + encodeURIComponent(T))`,
  },
  {
    name: 'service-fetch',
    js: `await navigator.serviceWorker.register(S + '/service/fetch/worker.js?code=' + encodeURIComponent("fetch(t, { mode: 'no-cors' })") + '&t=' + encodeURIComponent(T))`,
  },
  {
    name: 'service-import',
    js: `await navigator.serviceWorker.register(S + '/service/import/worker.js?code=' + encodeURIComponent('importScripts(t)') + '&t=' + encodeURIComponent(T))`,
  },
  {
    ...worker('service-websocket', ''),
    js: `await navigator.serviceWorker.register(S + '/service/ws/worker.js?code=' + encodeURIComponent("new WebSocket(t.replace('http', 'ws'))") + '&t=' + encodeURIComponent(T))`,
    unseen: true,
  },
];

export const attempts: readonly Attempt[] = [...elements, ...connections, ...navigations, ...workers];

/** Those that send something in an engine. */
export function attemptsOf(engine: string): readonly Attempt[] {
  return attempts.filter(({ sends }) => sends === undefined || sends === engine);
}

/**
 * Pages that make the attempts when their button is clicked: `/attempts` all that need no click of their own, and
 * `/attempt/NAME` for each of the others.
 * @param target where they go; `NAME` in it is replaced by the name of the attempt
 */
export function attemptsPages(target: string, list = attempts): Record<string, string> {
  const alone = list.filter(({ click }) => click);
  const together = list.filter(({ click }) => !click);
  return {
    '/attempts': pageOf(target, together),
    ...Object.fromEntries(alone.map((one) => [`/attempt/${one.name}`, pageOf(target, [one])])),
  };
}

function pageOf(target: string, chosen: readonly Attempt[]): string {
  const runs = chosen.map(({ name, js }) => `[${JSON.stringify(name)}, async (T, S, F) => { ${js} }]`);
  return `<title>attempts</title><link rel=icon href=data:,>
<button id=go style="position:fixed;top:0;left:0;width:200px;height:60px">go</button><div id=stage></div>
<script>
const F = (tag, props) => { const e = document.createElement(tag); Object.assign(e, props); stage.append(e); return e; };
const runs = [${runs.join(',\n').replaceAll('</script', '<\\/script')}];
go.onclick = () => {
  for (const [name, run] of runs) run(${JSON.stringify(target)}.replace('NAME', name), location.origin, F).catch(() => 0);
};
</script>`;
}

/** The pages that make every attempt. */
export function attemptPaths(list = attempts): string[] {
  return [...list.filter(({ click }) => click).map(({ name }) => `/attempt/${name}`), '/attempts'];
}

/** Makes every attempt in a session. */
export async function attemptAll(
  service: TestService,
  session: string,
  site: WebServer,
  list = attempts,
): Promise<void> {
  for (const path of attemptPaths(list)) {
    const opened = await service.post(`${session}/navigate`, { url: site.url(path), timeoutMs: 60_000 });
    expect(opened.status, opened.text).toBe(200);
    const clicked = await service.post(`${session}/click`, { target: '#go', timeoutMs: 60_000 });
    // One that led to nothing but a tab that was denied says so.
    if (clicked.body.code !== 'policy_denied') expect(clicked.status, clicked.text).toBe(200);
  }
}
