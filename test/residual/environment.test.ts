import { expect, test } from 'vitest';
import { chromeEnvironment, hasDisplay } from '../../src/residual/environment.ts';

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
  expect(chromeEnvironment(directories, { outer: source })).toEqual({
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
  const added = Object.entries(chromeEnvironment(directories, { headful: true, outer: source })).filter(
    ([name, value]) => chromeEnvironment(directories, { outer: source })[name] !== value,
  );
  expect(added).toEqual([['DISPLAY', ':1']]);
});

test('a Wayland display is named by its whole path, since the runtime directory is another', () => {
  const outer = { WAYLAND_DISPLAY: 'wayland-0', XDG_RUNTIME_DIR: '/run/user/1000' };
  expect(chromeEnvironment(directories, { headful: true, outer })).toMatchObject({
    WAYLAND_DISPLAY: '/run/user/1000/wayland-0',
    XDG_RUNTIME_DIR: '/w/tmp',
  });
});

test.each([
  [{}, false],
  [{ DISPLAY: '' }, false],
  [{ DISPLAY: ':0' }, true],
  [{ WAYLAND_DISPLAY: 'wayland-0' }, false],
  [{ WAYLAND_DISPLAY: 'wayland-0', XDG_RUNTIME_DIR: '/run/user/1' }, true],
  [{ WAYLAND_DISPLAY: '/run/user/1/wayland-0' }, true],
])('a display is found in %j: %s', (outer, found) => {
  expect(hasDisplay(outer)).toBe(found);
});
