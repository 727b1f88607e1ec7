/**
 * The environment of a Chrome: built from an allow-list, never inherited. What is not here does not reach it: tokens of
 * the service's own environment, proxy variables, CHROMIUM_FLAGS, the desktop's message bus.
 */

/** Where a session's Chrome may write, all inside its workspace. */
export interface ChromeDirectories {
  /** HOME; the XDG directories are put below it. */
  readonly home: string;
  /** TMPDIR; short, since a socket path of Chrome ends at 107 bytes. */
  readonly tmp: string;
}

/** How text and time look, and where fonts and shared libraries are on systems with places of their own. */
const inherited = [
  'PATH',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'FONTCONFIG_FILE',
  'FONTCONFIG_PATH',
  'LD_LIBRARY_PATH',
];

/** Only for a Chrome with a window. */
const inheritedWithWindow = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY'];

/** The environment for a Chrome of a session; `source` is where inherited values are taken from. */
export function chromeEnvironment(
  directories: ChromeDirectories,
  headless: boolean,
  source: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const names = headless ? inherited : [...inherited, ...inheritedWithWindow];
  const taken = names.flatMap((name) => {
    const value = source[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { home, tmp } = directories;
  return {
    ...Object.fromEntries(taken),
    HOME: home,
    TMPDIR: tmp,
    XDG_CONFIG_HOME: `${home}/.config`,
    XDG_CACHE_HOME: `${home}/.cache`,
    XDG_DATA_HOME: `${home}/.local/share`,
    XDG_STATE_HOME: `${home}/.local/state`,
    // A Wayland display is a socket in the user's own runtime directory.
    XDG_RUNTIME_DIR: (headless ? undefined : source['XDG_RUNTIME_DIR']) ?? tmp,
    // Without an address Chrome looks for the session bus at well-known places; "disabled:" ends the search.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    DBUS_SYSTEM_BUS_ADDRESS: 'disabled:',
  };
}
