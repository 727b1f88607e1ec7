import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AirlockError } from '../../src/errors.ts';
import { type ChromeFlagOptions, chromeFlags } from '../../src/sessions/chrome-flags.ts';
import { operatorFlagNames, operatorFlags } from '../../src/sessions/operator-flags.ts';
import { engines } from '../support/real-chrome.ts';

const base: ChromeFlagOptions = {
  engine: 'chrome',
  profileDir: '/run/a b/profile',
  floorAddress: '127.83.12.7',
  floorPort: 40_123,
  noSandbox: false,
  headless: true,
  platform: 'linux',
};

describe('the list', () => {
  test.each(engines)('%s: the floor is the only way out', (engine) => {
    const flags = chromeFlags({ ...base, engine });
    expect(flags).toContain('--proxy-server=socks5://127.83.12.7:40123');
    expect(flags).toContain('--proxy-bypass-list=<-loopback>');
    expect(flags).toContain('--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.83.12.7');
    expect(flags).toContain('--remote-debugging-pipe');
    expect(flags).toContain('--user-data-dir=/run/a b/profile');
    expect(
      flags.filter((flag) => /webrtc-ip-handling-policy=disable_non_proxied_udp$/.test(flag)),
    ).toHaveLength(1);
    expect(
      flags.filter((flag) => /debugging-(port|address)|no-sandbox|disable-web-security/.test(flag)),
    ).toEqual([]);
  });

  test.each(engines)('%s: no flag twice, one merged list of features', (engine) => {
    const names = chromeFlags({ ...base, engine, noSandbox: true }).map((flag) => flag.replace(/=.*/s, ''));
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('--disable-features');
    expect(names).not.toContain('--enable-features');
  });

  test('the sandbox goes only when asked, the window only from full Chrome, the key chain only on macOS', () => {
    expect(chromeFlags({ ...base, noSandbox: true })).toContain('--no-sandbox');
    expect(chromeFlags(base)).toContain('--headless=new');
    expect(chromeFlags({ ...base, headless: false })).not.toContain('--headless=new');
    expect(chromeFlags({ ...base, platform: 'darwin' })).toContain('--use-mock-keychain');
    expect(chromeFlags(base)).not.toContain('--use-mock-keychain');
    expect(chromeFlags({ ...base, smallDevShm: true })).toContain('--disable-dev-shm-usage');
  });

  test('what would break out of a rule is refused', () => {
    for (const floorAddress of ['localhost', '::1', '127.0.0.1 , EXCLUDE *', '127.0.0.1;direct://', '']) {
      expect(() => chromeFlags({ ...base, floorAddress })).toThrow(RangeError);
    }
    for (const floorPort of [0, -1, 65_536, 1.5, Number.NaN]) {
      expect(() => chromeFlags({ ...base, floorPort })).toThrow(RangeError);
    }
    expect(() => chromeFlags({ ...base, profileDir: 'relative' })).toThrow(RangeError);
  });
});

describe("the operator's flags", () => {
  test('allowed ones pass, spelled as Chrome reads them, and are passed on', () => {
    const extra = operatorFlags([
      '--window-size=1280,720',
      '--DISABLE-GPU',
      '--js-flags=--max-old-space-size=512',
    ]);
    expect(extra).toEqual(['--window-size=1280,720', '--disable-gpu', '--js-flags=--max-old-space-size=512']);
    expect(chromeFlags({ ...base, extra }).slice(-4)).toEqual([...extra, 'about:blank']);
  });

  test.each([
    '--proxy-server=direct://',
    '--PROXY-SERVER=direct://',
    '--no-proxy-server',
    '--proxy-pac-url=http://x/',
    '--proxy-auto-detect',
    '--proxy-bypass-list=*',
    '--winhttp-proxy-resolver',
    '--host-resolver-rules=',
    '--host-rules=MAP * x',
    '--remote-debugging-port=0',
    '--Remote-Debugging-Port=9222',
    '--remote-debugging-address=0.0.0.0',
    '--remote-allow-origins=*',
    '--load-extension=/x',
    '--disable-extensions-except=/x',
    '--policy-switches',
    '--ignore-certificate-errors',
    '--ignore-certificate-errors-spki-list=x',
    '--allow-insecure-localhost',
    '--user-data-dir=/x',
    '--profile-directory=x',
    '--disable-features=MediaRouter',
    '--enable-features=DirectSockets',
    '--enable-blink-features=x',
    '--disable-web-security',
    '--no-sandbox',
    '--no-zygote',
    '--single-process',
    '--disable-setuid-sandbox',
    '--disable-site-isolation-trials',
    '--allow-file-access-from-files',
    '--renderer-cmd-prefix=xterm',
    '--utility-cmd-prefix=xterm',
    '--gpu-launcher=xterm',
    '--js-flags=--allow-natives-syntax',
    '--js-flags=--expose-gc --jitless',
    '--window-size=1,2 --no-sandbox',
    '--lang=en\n--no-sandbox',
    '--disable-gpu=1',
    '-disable-gpu',
    'disable-gpu',
    '/disable-gpu',
    '--',
    '',
    'http://example.com/',
    '--disable-gpu ',
    '--disable_gpu',
  ])('%j is refused, by name', (flag) => {
    expect(() => operatorFlags(['--disable-gpu', flag])).toThrow(AirlockError);
    expect(() => operatorFlags([flag])).toThrow(/Chrome flag/);
  });

  test('nothing off the list passes, in any spelling', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 30 }), fc.string({ maxLength: 10 }), (name, value) => {
        fc.pre(!operatorFlagNames.includes(name.toLowerCase().replace(/=.*/s, '')));
        expect(() => operatorFlags([`--${name}=${value}`])).toThrow(AirlockError);
      }),
    );
  });
});
