/**
 * The one list of flags that a Chrome is started with. Nothing else in the code names a flag.
 *
 * Chrome ignores unknown switches and feature names without a word, and they come and go between versions, so each list
 * holds only what the engine really has (test/sessions/chrome-flags-exist.test.ts searches the binaries), and what is
 * said beside a flag was measured on Chromium 156, full and headless-shell, or read in Chromium's source.
 */
import { statfsSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { isAbsolute } from 'node:path';
import type { Engine } from './find-chrome.ts';

export interface ChromeFlagOptions {
  readonly engine: Engine;
  /** Absolute path of the profile directory. */
  readonly profileDir: string;
  /** The IPv4 literal, without a scheme, that the session's floor listens on. */
  readonly floorAddress: string;
  readonly floorPort: number;
  /** Only as root, or when the operator asks: the sandbox is what stands between a renderer exploit and our uid. */
  readonly noSandbox: boolean;
  /** False opens a window: full Chrome only, the shell has none. */
  readonly headless: boolean;
  /** Flags of the operator, as `operatorFlags` returned them. */
  readonly extra?: readonly string[];
  /** True where /dev/shm is too small for a page (`devShmIsSmall`). */
  readonly smallDevShm?: boolean;
  readonly platform?: NodeJS.Platform;
}

/** A port that Chrome itself refuses to connect to (Fetch standard, "bad ports"), so such a call ends inside it. */
const deadEnd = 'https://127.0.0.1:1';

/** Switches that both engines have. */
const commonFlags: readonly string[] = [
  '--remote-debugging-pipe', // and never a port: any local process, and a page of the port's origin, could drive it
  // A process of its own for every site. Full Chrome on a desktop does so by itself, the shell only when told to.
  '--site-per-process',
  '--disable-quic', // nothing may try UDP; with a SOCKS proxy none was seen, the switch states it
  '--disable-breakpad', // no crash upload of its own accord; dumps land in HOME, which is in the workspace
  '--password-store=basic', // no key ring of the desktop user
  '--disable-notifications', // push messaging registers with a server of its own (android.clients.google.com)
  '--disable-field-trial-config', // unbranded builds switch testing variations on: no two builds alike
  '--noerrdialogs', // an error dialog of the browser would wait for somebody who is not there
  '--mute-audio',
  '--hide-scrollbars', // screenshots show the page, at the same width on every system
  '--force-color-profile=srgb', // the same pixels on every machine
  // Chrome saves work in tabs that nobody looks at. Here every tab is used by a caller, and none is looked at.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-back-forward-cache', // a page that comes back from it has loaders that nothing renews (interception.ts)
  '--disable-hang-monitor', // a busy page is ended by its deadline, not by a dialog
  '--allow-pre-commit-input', // else input between a commit and its first frame is dropped: a click that did nothing
];

const engineFlags: Readonly<Record<Engine, readonly string[]>> = {
  'headless-shell': [
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp', // the shell reads only this spelling
  ],
  chrome: [
    '--webrtc-ip-handling-policy=disable_non_proxied_udp', // full Chrome reads only this spelling
    '--disable-extensions', // an extension's proxy setting beats --proxy-server
    '--disable-component-extensions-with-background-pages',
    '--no-pings', // hyperlink auditing
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-default-apps',
    '--disable-search-engine-choice-screen',
    '--hide-crash-restore-bubble', // a persistent profile that was killed would open with a question
    '--disable-prompt-on-repost', // reload of a posted form would wait behind a question
    '--disable-infobars', // they take height from the page
    '--metrics-recording-only', // records, and reports to nobody
    '--disable-background-networking',
    '--disable-sync',
    '--disable-domain-reliability', // uploads reports on failed requests to Google's hosts
    // None of the "disable" switches above stops these three calls in 156: 75 s idle showed the sign-in list, the
    // component updater's on-demand POST and the Google API hosts until their addresses led nowhere.
    '--disable-component-update',
    `--component-updater=url-source=${deadEnd}/`,
    `--gaia-url=${deadEnd}`,
    `--google-apis-url=${deadEnd}`,
  ],
};

/** Features that both engines have. */
const commonOffFeatures: readonly string[] = [
  'WebRtcHideLocalIpsWithMdns', // announces host candidates by multicast (224.0.0.251), past every proxy setting
  'AsyncDns', // the built-in resolver asks 8.8.8.8 when a direct context appears; Chrome must never resolve
  'DnsOverHttpsUpgrade', // the same resolver's upgrade probe
  'Prerender2', // runs pages that nobody opened, and that no tab shows
  'PrefetchProxy', // fetches through a tunnel of Google's
  'OptimizationHints', // fetches hints on visited hosts
  'Translate', // fetches language lists, and offers a bubble
  'DirectSockets', // raw TCP and UDP for isolated apps
  'IsolatedWebApps',
  // Their requests pass the interception of URLs by, with a method and a path of the page's choice (measured on 156).
  'BackgroundFetch',
  'WebPayments', // PaymentRequest asks for the manifest of any payment method
  'FedCm', // asks for the configuration of any identity provider
];

const engineOffFeatures: Readonly<Record<Engine, readonly string[]>> = {
  'headless-shell': [],
  chrome: [
    'MediaRouter', // a page's PresentationRequest sends mDNS and SSDP multicast; the provider features do not stop it
    'NetworkTimeServiceQuerying', // clients2.google.com/time
    'HttpsUpgrades', // rewrites http:// navigations to https:// first: not the request that the caller made
    'HttpsFirstBalancedMode', // the same, with an interstitial
    'HttpsFirstBalancedModeAutoEnable',
    'AutofillServerCommunication', // sends the shape of forms
    'PreconnectToSearch', // opens connections to the search engine on its own
    'GlobalMediaControls', // depends on the media router
    'LensOverlay',
    'Glic',
    'AimEnabled', // talks to Google's assistant back end
  ],
};

/**
 * The whole argument list for a Chrome. The floor is its only way out: every host goes to the proxy, loopback
 * included, and its own resolver knows only the floor's address. It starts with one tab, at about:blank.
 *
 * @throws RangeError when the profile is not an absolute path or the floor is not an IPv4 literal and a port: they are
 * put into rules that Chrome parses
 */
export function chromeFlags(options: ChromeFlagOptions): string[] {
  const { engine, profileDir, floorAddress, floorPort } = options;
  if (!isAbsolute(profileDir)) throw new RangeError(`the profile directory is not absolute: ${profileDir}`);
  if (!isIPv4(floorAddress)) throw new RangeError(`the floor's address is not IPv4: ${floorAddress}`);
  if (!Number.isInteger(floorPort) || floorPort < 1 || floorPort > 65_535) {
    throw new RangeError(`the floor's port is not a port: ${floorPort}`);
  }
  return [
    ...commonFlags,
    ...engineFlags[engine],
    ...windowFlags(options),
    `--user-data-dir=${profileDir}`,
    `--proxy-server=socks5://${floorAddress}:${floorPort}`,
    // Without it localhost, 127/8, [::1], 169.254/16 (cloud metadata) and fe80::/10 go direct.
    '--proxy-bypass-list=<-loopback>',
    // Closes DNS leaks (TURN over TCP asks the system's resolver), and is the net under a lost proxy setting: a direct
    // connection ends in ERR_NAME_NOT_RESOLVED, IP literals included.
    `--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE ${floorAddress}`,
    // Chrome reads only the last --disable-features: one merged list.
    `--disable-features=${offFeatures(engine).join(',')}`,
    ...(options.smallDevShm === true ? ['--disable-dev-shm-usage'] : []),
    ...(options.noSandbox ? ['--no-sandbox'] : []),
    ...((options.platform ?? process.platform) === 'darwin' ? ['--use-mock-keychain'] : []),
    ...(options.extra ?? []),
    // Without a page full Chrome opens its start page: Debian's is start.duckduckgo.com, asked for at every launch.
    'about:blank',
  ];
}

/** The features that are switched off for an engine. */
export function offFeatures(engine: Engine): string[] {
  return [...commonOffFeatures, ...engineOffFeatures[engine]];
}

function windowFlags({ engine, headless }: ChromeFlagOptions): string[] {
  if (engine === 'headless-shell' || !headless) return [];
  return ['--headless=new'];
}

/** Container engines give 64 MiB by default, which one larger page fills; Chrome then dies with SIGBUS. */
const enoughDevShmBytes = 256 * 1024 * 1024;

/** True on Linux where /dev/shm is absent or too small, so that Chrome must use its TMPDIR instead. */
export function devShmIsSmall(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const { blocks, bsize } = statfsSync('/dev/shm');
    return blocks * bsize < enoughDevShmBytes;
  } catch {
    return true; // no /dev/shm at all
  }
}
