import { expect, test } from 'vitest';
import { chromeEnvironment } from '../../src/sessions/chrome-environment.ts';

const source = {
  PATH: '/usr/bin',
  LANG: 'pt_BR.UTF-8',
  TZ: 'America/Sao_Paulo',
  DISPLAY: ':1',
  XDG_RUNTIME_DIR: '/run/user/1000',
  HOME: '/home/someone',
  HTTPS_PROXY: 'http://proxy',
  CHROMIUM_FLAGS: '--no-proxy-server',
  LD_PRELOAD: '/x.so',
  GOOGLE_API_KEY: 'secret',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus',
  SSLKEYLOGFILE: '/tmp/keys',
};
const directories = { home: '/w/home', tmp: '/w/tmp' };

test('only what is on the list reaches Chrome, and all that it writes is inside the workspace', () => {
  expect(chromeEnvironment(directories, true, source)).toEqual({
    PATH: '/usr/bin',
    LANG: 'pt_BR.UTF-8',
    TZ: 'America/Sao_Paulo',
    HOME: '/w/home',
    TMPDIR: '/w/tmp',
    XDG_CONFIG_HOME: '/w/home/.config',
    XDG_CACHE_HOME: '/w/home/.cache',
    XDG_DATA_HOME: '/w/home/.local/share',
    XDG_STATE_HOME: '/w/home/.local/state',
    XDG_RUNTIME_DIR: '/w/tmp',
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    DBUS_SYSTEM_BUS_ADDRESS: 'disabled:',
  });
});

test('a window needs the display, and nothing more', () => {
  const added = Object.entries(chromeEnvironment(directories, false, source)).filter(
    ([name, value]) => chromeEnvironment(directories, true, source)[name] !== value,
  );
  expect(added).toEqual([
    ['DISPLAY', ':1'],
    ['XDG_RUNTIME_DIR', '/run/user/1000'],
  ]);
});
