import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestService } from '../support/service.ts';
import { type Ended, runToEnd } from '../support/start-only.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'a-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

function refused(ended: Ended, says: RegExp): void {
  expect(ended.err).toMatch(says);
  expect(ended.err.trimEnd().split('\n')).toHaveLength(1);
  expect(ended.code).toBe(2);
  expect(ended.out).toBe('');
}

test.each([
  [['--prot', '1'], /Unknown option '--prot'/],
  [['--port', 'eighty'], /--port takes a whole number/],
  [['--port', '65536'], /--port/],
  [['--engine', 'firefox'], /--engine .*headless-shell/],
  [['--ttl', 'soon'], /--ttl takes a length of time such as/],
  [['--drain', '5x'], /--drain takes a length of time such as 500ms, 30s, 10m or 2h/],
  [['--ttl', '0'], /--ttl 0: must be more than 0/],
  [['--idle', '0ms'], /--idle 0ms: must be more than 0/],
  [['--ttl', '169h'], /--ttl 169h: at most 168h/],
  [['--allow', 'http://user@host'], /user/],
  [['--allow', ''], /empty|allow/i],
  [['--policy', '/nonexistent/policy.json'], /policy file \/nonexistent/],
  [['--config', '/nonexistent/config.json'], /config file \/nonexistent/],
  [['--token-file', '/nonexistent/token'], /token file \/nonexistent\/token cannot be read/],
  [['--chrome', '/nonexistent/chrome'], /\/nonexistent\/chrome/],
  [['frobnicate'], /no command "frobnicate"/],
])('%j is refused with one line and exit code 2', async (args, says) => {
  refused(await runToEnd([...args, '--state-dir', join(root, 'state')]), says);
});

test('a port in use is one line and exit code 2', async () => {
  const taken = createServer();
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  refused(
    await runToEnd([
      '--port',
      String(port),
      '--state-dir',
      join(root, 's2'),
      '--runtime-dir',
      join(root, 'r2'),
    ]),
    /in use/,
  );
  taken.close();
});

test('a token file that is no token, and one that others own the place of, are refused', async () => {
  const bad = join(root, 'bad-token');
  await writeFile(bad, 'short');
  refused(await runToEnd(['--token-file', bad, '--state-dir', join(root, 's3')]), /does not hold a token/);
});

test('a runtime directory that is a symbolic link or open to others is refused', async () => {
  await symlink(root, join(root, 'link'));
  refused(
    await runToEnd(['--runtime-dir', join(root, 'link'), '--state-dir', join(root, 's4')]),
    /symbolic link/,
  );
  const open = await mkdtemp(join(root, 'open-'));
  await chmod(open, 0o777);
  refused(await runToEnd(['--runtime-dir', open, '--state-dir', join(root, 's4')]), /mode/);
});

test('a network address without a token of its own is refused', async () => {
  refused(
    await runToEnd(['--host', '0.0.0.0', '--port', '0', '--state-dir', join(root, 's5')]),
    /--token-file/,
  );
});

test('the first start makes a token that only its user can read, and says where it listens', async () => {
  await using service = await TestService.start();
  const token = join(service.root, 'state', 'token');
  expect((await stat(token)).mode & 0o777).toBe(0o600);
  expect((await stat(join(service.root, 'state'))).mode & 0o777).toBe(0o700);
  expect((await readFile(join(service.root, 'state', 'address'), 'utf8')).trim()).toBe(service.baseUrl);
});

test('config prints every setting with its origin', async () => {
  const file = join(root, 'config.json');
  await writeFile(file, JSON.stringify({ ttl: '5m', allow: ['localhost:1234'] }));
  const { out, code } = await runToEnd(['config', '--config', file, '--port', '0']);
  expect(code).toBe(0);
  const printed = JSON.parse(out);
  expect(printed.port).toEqual({ value: 0, origin: 'flag' });
  expect(printed.ttl).toEqual({ value: '5m', origin: file });
  expect(printed.allow).toEqual({ value: ['localhost:1234'], origin: file });
  expect(printed.host).toEqual({ value: '127.0.0.1', origin: 'default' });
});

test('an unknown key of the config file is named', async () => {
  const file = join(root, 'wrong.json');
  await writeFile(file, JSON.stringify({ prot: 1 }));
  refused(await runToEnd(['--config', file]), /no setting "prot"; did you mean port\?/);
});

test('SIGTERM closes all sessions and exits with 0; nothing is left', async () => {
  const service = await TestService.start();
  await service.session();
  await service.session();
  expect(await service.stop('SIGTERM')).toBe(0);
  const left = (await readdir(join(service.root, 'r'))).filter((name) => name.startsWith('airlock-chrome-'));
  expect(left).toEqual([]);
  await service[Symbol.asyncDispose]();
});
