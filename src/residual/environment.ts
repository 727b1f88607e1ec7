/**
 * The environment of a Chrome: built from an allow-list, never inherited. What is not here does not reach it: tokens of
 * the service's own environment, proxy variables, CHROMIUM_FLAGS, the desktop's message bus, a temp directory elsewhere.
 */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** Where a Chrome may write. */
export interface OwnDirectories {
  /** HOME; the XDG directories are put below it. */
  home: string;
  /** TMPDIR; short, since a socket path of Chrome ends at 107 bytes. */
  tmp: string;
}

export interface EnvironmentOptions {
  /** Lets Chrome see the display of the user. */
  headful?: boolean;
  /** Where the allowed variables are taken from. */
  outer?: NodeJS.ProcessEnv;
}

/** How text and time look, and where programs, fonts and shared libraries are on systems with places of their own. */
const PASSED = /^(?:PATH|LANG|LANGUAGE|TZ|LC_[A-Z]+|FONTCONFIG_FILE|FONTCONFIG_PATH|LD_LIBRARY_PATH)$/;

export function chromeEnvironment(
  { home, tmp }: OwnDirectories,
  options: EnvironmentOptions = {},
): Record<string, string> {
  const outer = options.outer ?? process.env;
  const environment: Record<string, string> = {};
  for (const [key, value] of Object.entries(outer)) {
    if (value !== undefined && PASSED.test(key)) environment[key] = value;
  }
  return {
    ...environment,
    ...(options.headful === true ? displayOf(outer) : {}),
    HOME: home,
    TMPDIR: tmp,
    // Chrome on macOS does not read TMPDIR (base/files/file_util_apple.mm).
    ...(process.platform === 'darwin' ? { MAC_CHROMIUM_TMPDIR: tmp } : {}),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_RUNTIME_DIR: tmp,
    // Without an address Chrome looks for the session bus at well-known places, and with a display libdbus starts a
    // daemon that outlives the browser; "disabled:" ends the search.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    DBUS_SYSTEM_BUS_ADDRESS: 'disabled:',
  };
}

/** True where there is a display that a window could open on. */
export function hasDisplay(outer: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(outer['DISPLAY']) || 'WAYLAND_DISPLAY' in displayOf(outer);
}

function displayOf(outer: NodeJS.ProcessEnv): Record<string, string> {
  const display: Record<string, string> = {};
  if (outer['DISPLAY']) display['DISPLAY'] = outer['DISPLAY'];
  // Without the variable Xlib looks in HOME, which is another one for Chrome.
  const usual = join(outer['HOME'] ?? '/', '.Xauthority');
  const authority = outer['XAUTHORITY'] ?? (existsSync(usual) ? usual : undefined);
  if (authority !== undefined) display['XAUTHORITY'] = authority;
  const wayland = outer['WAYLAND_DISPLAY'];
  const runtime = outer['XDG_RUNTIME_DIR'];
  if (wayland && isAbsolute(wayland)) display['WAYLAND_DISPLAY'] = wayland;
  // A plain name is looked for in XDG_RUNTIME_DIR, which is another one too.
  else if (wayland && runtime) display['WAYLAND_DISPLAY'] = join(runtime, wayland);
  return display;
}
