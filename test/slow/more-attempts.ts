/**
 * Ways out that are not HTTP, or need https: beside those of test/e2e/network/attempts.ts. `h` is the target's host.
 * `sends` is what was seen of the control; what sends nothing there is made all the same, for a Chrome of later.
 */
import type { Attempt } from '../e2e/network/attempts.ts';

const attempt = (name: string, js: string, more: Partial<Attempt> = {}): Attempt => ({
  name,
  js: `const h = new URL(T).host; ${js}`,
  ...more,
});

/** Gathers candidates with these servers until there are no more. */
const gather = (name: string, servers: string): Attempt =>
  attempt(
    name,
    `const p = new RTCPeerConnection({ iceServers: ${servers} });
    p.createDataChannel('x');
    await p.setLocalDescription(await p.createOffer());
    await new Promise((done) => { p.onicegatheringstatechange = () => p.iceGatheringState === 'complete' && done(); });`,
  );

const turn = (name: string, url: string): Attempt =>
  gather(name, `[{ urls: [${url}], username: 'u', credential: 'c' }]`);

export const moreAttempts: readonly Attempt[] = [
  { ...gather('rtc-host', '[]'), sends: 'none' },
  gather('rtc-stun', `[{ urls: ['stun:' + h + ':3478'] }]`),
  turn('rtc-turn-udp', `'turn:' + h + ':3478?transport=udp'`),
  turn('rtc-turn-tcp', `'turn:' + h + ':3478?transport=tcp'`),
  turn('rtc-turns', `'turns:' + h + ':5349?transport=tcp'`),
  attempt(
    'rtc-candidate',
    `const [a, b] = [new RTCPeerConnection(), new RTCPeerConnection()];
    a.createDataChannel('x');
    await a.setLocalDescription(await a.createOffer());
    await b.setRemoteDescription(a.localDescription);
    await b.setLocalDescription(await b.createAnswer());
    await a.setRemoteDescription(b.localDescription);
    for (const [kind, more] of [['udp', ''], ['tcp', ' tcptype passive']]) {
      const candidate = 'candidate:1 1 ' + kind + ' 2122260223 ' + h.replace(/[[\\]]/g, '') + ' 3478 typ host' + more;
      await a.addIceCandidate({ candidate, sdpMid: '0' }).catch(() => 0);
    }`,
  ),
  attempt('webtransport', `await new WebTransport('https://' + h + ':4433/').ready`),
  attempt('dns-prefetch', `F('link', { rel: 'dns-prefetch', href: 'http://' + h + '/' })`, {
    sends: 'chrome',
  }),
  attempt('https-fetch', `await fetch('https://' + h + '/', { mode: 'no-cors' })`),
  // Takes secure addresses only; the one of the other list goes to localhost, which counts as such.
  attempt('fetch-later', `fetchLater('https://' + h + '/', { activateAfter: 0 })`, { sends: 'none' }),
  attempt('wss', `new WebSocket('wss://' + h + '/')`),
  attempt(
    'payment',
    `await new PaymentRequest([{ supportedMethods: 'https://' + h + '/pay' }], { total: { label: 'x', amount: { currency: 'USD', value: '1' } } }).canMakePayment()`,
    { sends: 'chrome' },
  ),
  attempt(
    'fedcm',
    `await navigator.credentials.get({ identity: { providers: [{ configURL: 'https://' + h + '/f.json', clientId: '1' }] } })`,
  ),
  attempt(
    'reporting-https',
    `const i = F('iframe', { src: S + '/reporting?t=' + encodeURIComponent('https://' + h + '/r') }); i.onload = () => setTimeout(() => i.remove(), 500)`,
    { sends: 'none' },
  ),
  attempt('icon', `F('link', { rel: 'icon', href: T })`, { sends: 'none' }),
  attempt('manifest', `F('link', { rel: 'manifest', href: T })`, { sends: 'none' }),
  attempt('attribution', `F('img', { attributionSrc: T })`, { sends: 'none' }),
  attempt('remote-playback', `await F('video', { src: T }).remote.watchAvailability(() => 0)`),
  attempt('presentation-available', `await new PresentationRequest('https://' + h + '/').getAvailability()`, {
    sends: 'none',
  }),
  attempt('presentation', `await new PresentationRequest('https://' + h + '/').start()`, {
    click: true,
    sends: 'none',
  }),
];
