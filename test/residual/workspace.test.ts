import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SOCKET_PATH_MAX } from '../../src/residual/runtime-dir.ts';
import { Workspace } from '../../src/residual/workspace.ts';
import { launch } from './support/chrome.ts';
import { runtimeDir, scratch, workspace } from './support/scratch.ts';

const id = 'abcdefghijklmnopqrstuvwxyz';

test('a session gets one directory, for us alone, with a record of its owner', async () => {
  const directory = await runtimeDir();
  const place = await Workspace.create(directory, 's1');
  expect(place.path).toBe(join(directory.path, 'airlock-chrome-s1'));
  for (const path of [place.path, place.profile, place.tmp, place.home, place.files]) {
    expect(statSync(path).mode & 0o777).toBe(0o700);
  }
  expect(readdirSync(place.path).sort()).toEqual(['files', 'home', 'owner.json', 'profile', 'tmp']);
  const record = JSON.parse(await readFile(join(place.path, 'owner.json'), 'utf8'));
  expect(record).toEqual({ sessionId: 's1', service: directory.instance, createdAt: expect.any(String) });
  expect(place.claimed).toBe(true);
  place.release();
  expect(place.claimed).toBe(false);
});

test('the record names the Chrome as soon as there is one', async () => {
  const place = await workspace();
  const chrome = { pid: 7, startTime: '4711', pgid: 7 };
  await place.setChrome(chrome);
  const record = JSON.parse(await readFile(join(place.path, 'owner.json'), 'utf8'));
  expect(record.chrome).toEqual(chrome);
  expect(readdirSync(place.path).filter((name) => name.startsWith('.owner'))).toEqual([]);
});

test('a workspace that exists is an error, and stays as it is', async () => {
  const directory = await runtimeDir();
  const path = join(directory.path, 'airlock-chrome-s1');
  await mkdir(path);
  await writeFile(join(path, 'theirs'), 'x');
  await expect(Workspace.create(directory, 's1')).rejects.toMatchObject({ code: 'internal' });
  expect(readdirSync(path)).toEqual(['theirs']);
  expect(directory.isClaimed('airlock-chrome-s1')).toBe(false);
});

test('a second session of the same id is an error, and the first keeps its claim', async () => {
  const directory = await runtimeDir();
  const first = await Workspace.create(directory, 's1');
  await expect(Workspace.create(directory, 's1')).rejects.toMatchObject({ code: 'internal' });
  expect(first.claimed).toBe(true);
  expect(existsSync(first.files)).toBe(true);
});

test.skipIf(process.getuid?.() !== 0)(
  'a disk that is full is said to be, and nothing stays on it',
  async () => {
    const base = await scratch();
    // Room for its root, the runtime directory, the lock and the workspace, not for the record in it.
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'nr_inodes=4', 'none', base]);
    onTestFinished(() => {
      execFileSync('umount', ['-l', base]);
    });
    const directory = await runtimeDir(join(base, 'r'));
    await expect(Workspace.create(directory, 's1')).rejects.toMatchObject({ code: 'disk_full' });
    expect(readdirSync(directory.path)).toEqual([`${directory.instance.instanceId}.sock`]);
    expect(directory.isClaimed('airlock-chrome-s1')).toBe(false);
  },
);

test.each(['', '../x', 'a/b', 'a\0b', 'a b'])('%j is no session id', async (name) => {
  await expect(Workspace.create(await runtimeDir(), name)).rejects.toMatchObject({ code: 'internal' });
});

test('where the path is long the name is the end of the id, so that the socket of Chrome fits', async () => {
  const base = await scratch();
  const directory = await runtimeDir(join(base, 'r'.repeat(30 - base.length - 1)));
  const place = await Workspace.create(directory, `node-${id}`);
  const socket = join(place.tmp, 'org.chromium.Chromium.XXXXXX/SingletonSocket');
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(SOCKET_PATH_MAX);
  expect(place.name).toMatch(/^airlock-chrome-[a-z]{12,26}$/);
  expect(id.endsWith(place.name.slice('airlock-chrome-'.length))).toBe(true);
  expect(JSON.parse(await readFile(join(place.path, 'owner.json'), 'utf8')).sessionId).toBe(`node-${id}`);
});

test('a full Chrome starts in a workspace whose socket path is as long as it may be', async () => {
  const base = await scratch();
  const directory = await runtimeDir(join(base, 'r'.repeat(30 - base.length - 1)));
  const place = await Workspace.create(directory, id);
  await launch(place, { engine: 'chrome' });
  const [socketDir] = readdirSync(place.tmp).filter((name) => name.startsWith('org.chromium.Chromium.'));
  const socket = join(place.tmp, socketDir ?? '', 'SingletonSocket');
  expect(existsSync(socket)).toBe(true);
  expect(Buffer.byteLength(socket)).toBe(SOCKET_PATH_MAX);
});

test('Chrome gets its own directories, language and search path, and nothing else', async () => {
  const place = await workspace();
  const outer = {
    PATH: '/bin',
    LANG: 'pt_BR.UTF-8',
    LC_ALL: 'C',
    TZ: 'UTC',
    HOME: '/root',
    TMPDIR: '/tmp',
    XDG_RUNTIME_DIR: '/run/user/0',
    DISPLAY: ':0',
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/bus',
    LD_PRELOAD: '/x.so',
    GOOGLE_API_KEY: 'k',
    HTTPS_PROXY: 'http://p',
    LCX_A: 'x',
  };
  const environment = place.env({ outer });
  const { PATH, LANG, LC_ALL, TZ, DBUS_SESSION_BUS_ADDRESS, DBUS_SYSTEM_BUS_ADDRESS, ...rest } = environment;
  expect([DBUS_SESSION_BUS_ADDRESS, DBUS_SYSTEM_BUS_ADDRESS]).toEqual(['disabled:', 'disabled:']);
  expect({ PATH, LANG, LC_ALL, TZ }).toEqual({ PATH: '/bin', LANG: 'pt_BR.UTF-8', LC_ALL: 'C', TZ: 'UTC' });
  for (const value of Object.values(rest)) expect(value.startsWith(`${place.path}/`)).toBe(true);
  expect(
    Object.keys(rest).every((key) => /^(HOME|TMPDIR|MAC_CHROMIUM_TMPDIR|XDG_[A-Z]+_(HOME|DIR))$/.test(key)),
  ).toBe(true);
});

test('a headful Chrome sees the display, and starts no bus', async () => {
  const place = await workspace();
  const outer = {
    DISPLAY: ':1',
    XAUTHORITY: '/a',
    WAYLAND_DISPLAY: 'wayland-0',
    XDG_RUNTIME_DIR: '/run/user/0',
  };
  expect(place.env({ headful: true, outer })).toMatchObject({
    DISPLAY: ':1',
    XAUTHORITY: '/a',
    WAYLAND_DISPLAY: '/run/user/0/wayland-0',
    XDG_RUNTIME_DIR: place.tmp,
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  });
});

test('disk use is counted in blocks, with what lies deep, without what links point to', async () => {
  const place = await workspace();
  const before = await place.usage();
  expect(before.entries).toBe(6);
  await mkdir(join(place.files, 'a/b'), { recursive: true });
  await writeFile(join(place.files, 'a/b/c'), Buffer.alloc(300_000, 1));
  const after = await place.usage();
  expect(after.entries).toBe(9);
  expect(after.bytes - before.bytes).toBeGreaterThanOrEqual(300_000);
});
