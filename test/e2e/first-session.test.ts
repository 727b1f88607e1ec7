import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { TestService } from '../support/service.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));

/** The server of the example pages, on a free port. */
async function servePages(): Promise<AsyncDisposable & { port: number }> {
  const child = spawn(process.execPath, [join(EXAMPLES, 'serve.ts'), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      const match = /http:\/\/[^:\s]+:(\d+)/.exec(out);
      if (match) resolve(Number(match[1]));
    });
    child.once('exit', (code) => reject(new Error(`the example server ended with ${code}`)));
  });
  return {
    port,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}

test('examples/first-session.sh, with curl and nothing else, drives a real single-page app to a zero receipt', async () => {
  await using pages = await servePages();
  await using service = await TestService.start(['--allow', `localhost:${pages.port}`]);
  const picture = join(service.root, 'picture.png');
  const { stdout } = await promisify(execFile)('sh', [
    join(EXAMPLES, 'first-session.sh'),
    '--state-dir',
    join(service.root, 'state'),
    '--page',
    `http://localhost:${pages.port}/todomvc/`,
    '--screenshot',
    picture,
  ]);
  expect(stdout).toContain('checkbox "Done: Buy milk" [ref=e3] [focused] [checked]');
  expect(stdout).toContain('1 item left, cookie seen=yes');
  expect(stdout).toMatch(/heap snapshot \S+: \d+ nodes, \d+ bytes/);
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    zero: true,
    reason: 'deleted',
  });
  expect((await readFile(picture)).subarray(0, 4).toString('latin1')).toBe('\x89PNG');
  expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
});

test('Swagger UI of this service works in a session: it is read, and an operation is opened by ref', async () => {
  await using pages = await servePages();
  await using service = await TestService.start(['--allow', `localhost:${pages.port}`]);
  const session = await service.session();
  const landed = await service.post(`${session}/navigate`, {
    url: `http://localhost:${pages.port}/swagger/`,
  });
  expect(landed.status).toBe(200);
  // The page builds itself from the document that it fetches.
  const built = await service.post(`${session}/wait`, { target: '.opblock', timeoutMs: 30_000 });
  expect(built.status).toBe(200);
  const snapshot = await service.get(`${session}/snapshot`);
  const ref = /button "[^"]*\/v1\/sessions[^"]*".*\[ref=(e\d+)\]/.exec(snapshot.body.text)?.[1];
  expect(ref).toBeDefined();
  expect((await service.post(`${session}/click`, { target: ref })).body).toMatchObject({ ok: true });
  const open = await service.post(`${session}/wait`, { target: '.opblock.is-open' });
  expect(open.status).toBe(200);
  const opened = await service.get(`${session}/snapshot?selector=.opblock.is-open`);
  expect(opened.body.text).toContain('heading "Responses"');
  expect((await service.delete(session)).body.zero).toBe(true);
});

test('the examples say how they are called, and what was wrong, in a line and not in a stack', async () => {
  const script = await run('sh', [join(EXAMPLES, 'first-session.sh'), '--help']);
  expect([script.code, script.err]).toEqual([0, '']);
  expect(script.out).toContain('npx node examples/serve.ts --port 7330');
  expect(script.out).toContain('--state-dir DIR');
  expect(script.out).not.toContain('set -eu');
  const wrong = await run('sh', [join(EXAMPLES, 'first-session.sh'), '--pge', 'x']);
  expect([wrong.code, wrong.err.trim()]).toEqual([1, 'first-session: there is no option --pge; see --help']);
  const serve = (...args: string[]) => run(process.execPath, [join(EXAMPLES, 'serve.ts'), ...args]);
  const help = await serve('--help');
  expect([help.code, help.err]).toEqual([0, '']);
  expect(help.out).toContain('--port N');
  await using pages = await servePages();
  for (const [args, says] of [
    [['--port', String(pages.port)], /in use/],
    [['--port', 'x'], /--port x is no port/],
    [['--prot', '1'], /--prot/],
  ] as const) {
    const ended = await serve(...args);
    expect(ended.err).toMatch(says);
    expect([ended.code, ended.err.trimEnd().split('\n').length]).toEqual([2, 1]);
  }
});

async function run(program: string, args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}
