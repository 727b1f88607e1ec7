import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestService } from '../support/service.ts';

/**
 * Every example of the documentation, pasted into a shell as a reader would: a page's `sh` blocks from top to bottom, with
 * the addresses of a service and of example pages that were started for it. What stands below a block is compared with
 * what came: `json` by its members and their types (values of `code`, `detail` and other fixed words too), snapshots by
 * their text, and HTTP errors by their number.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = [
  'README.md',
  'docs/http.md',
  'docs/sessions.md',
  'docs/snapshot.md',
  'docs/reading.md',
  'docs/actions.md',
  'docs/eval.md',
  'docs/cookies.md',
  'docs/storage.md',
  'docs/files.md',
  'docs/heap.md',
  'docs/residual.md',
];

interface Example {
  readonly script: string;
  /** What the page shows below it. */
  readonly json: readonly string[];
  readonly text: readonly string[];
}

let service: TestService;
let pagePort: string;
let stopPages: () => Promise<void>;
let prelude: string;

beforeAll(async () => {
  const child = spawn(process.execPath, [join(ROOT, 'examples/serve.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line]: unknown[] = await once(child.stdout, 'data');
  pagePort = /:(\d+)\//.exec(String(line))?.[1] ?? '';
  stopPages = async () => {
    const exited = once(child, 'exit');
    child.kill();
    await exited;
  };
  service = await TestService.start(['--allow', `localhost:${pagePort}`]);
  prelude = (await examplesOf('docs/README.md')).map(({ script }) => script).join('');
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await stopPages();
});

async function examplesOf(path: string): Promise<Example[]> {
  const text = await readFile(join(ROOT, path), 'utf8');
  const examples: { script: string; json: string[]; text: string[] }[] = [];
  for (const [, language, code = ''] of text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (language === 'sh') examples.push({ script: code, json: [], text: [] });
    if (language === 'json') examples.at(-1)?.json.push(code);
    if (language === 'text') examples.at(-1)?.text.push(code);
  }
  return examples;
}

/** A curl that writes down each answer and its status, beside doing what it is told. */
async function watchedCurl(bin: string): Promise<void> {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'command -v curl']);
  const script = `#!/bin/sh
out=$(mktemp "$ANSWERS/$(date +%s%N)-XXXXXX")
${stdout.trim()} "$@" -w '%{stderr}%{http_code}\\n' 2>"$out.status" | tee "$out"
`;
  await mkdir(bin);
  await writeFile(join(bin, 'curl'), script);
  await chmod(join(bin, 'curl'), 0o755);
}

interface Answers {
  readonly bodies: string[];
  readonly statuses: number[];
}

async function answersIn(directory: string): Promise<Answers> {
  const names = (await readdir(directory)).filter((name) => !name.endsWith('.status')).sort();
  const bodies = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  const statuses = await Promise.all(
    names.map((name) => readFile(join(directory, `${name}.status`), 'utf8')),
  );
  return { bodies, statuses: statuses.map((text) => Number(text.trim().split('\n').at(-1))) };
}

/** Words that say what happened; other strings may differ from run to run. */
const FIXED = new Set([
  'code',
  'status',
  'reason',
  'role',
  'name',
  'line',
  'type',
  '$type',
  'rule',
  'zero',
  'ok',
]);

/** Where `shown` says something that `came` does not have. */
function differences(shown: unknown, came: unknown, at: string, fixed: boolean): string[] {
  if (typeof shown !== 'object' || shown === null) {
    const same = fixed && typeof shown !== 'number' ? shown === came : typeof shown === typeof came;
    return same ? [] : [`${at}: ${JSON.stringify(shown)} is ${JSON.stringify(came)}`];
  }
  if (typeof came !== 'object' || came === null) return [`${at}: ${JSON.stringify(came)}`];
  return Object.entries(shown).flatMap(([name, value]) => {
    const inner: unknown = Reflect.get(came, name);
    return differences(value, inner, `${at}/${name}`, FIXED.has(name) || (fixed && Array.isArray(shown)));
  });
}

function statusOf(json: string): number[] {
  const { status }: { status?: unknown } = JSON.parse(json);
  return typeof status === 'number' && status >= 400 ? [status] : [];
}

/** Random numbers are the only thing in a snapshot that two runs do not share. */
function comparable(text: string): string {
  return text.replaceAll(/[0-9a-f]{24}/g, '…').trim();
}

test.each(PAGES)('the examples of %s do what it says', { timeout: 180_000 }, async (page) => {
  const examples = await examplesOf(page);
  const home = join(service.root, page.replaceAll('/', '-'));
  await mkdir(join(home, '.local/state'), { recursive: true });
  await symlink(join(service.root, 'state'), join(home, '.local/state/airlock'));
  await watchedCurl(join(home, 'bin'));
  const blocks = await Promise.all(
    examples.map(async ({ script }, index) => {
      const answers = join(home, `answers-${index}`);
      await mkdir(answers);
      return `export ANSWERS='${answers}'\n${script}`;
    }),
  );
  const script = [page === 'README.md' ? '' : prelude, ...blocks]
    .join('\n')
    .replaceAll('http://127.0.0.1:7320', service.baseUrl)
    .replaceAll('localhost:7330', `localhost:${pagePort}`);
  const env = { PATH: `${join(home, 'bin')}:${process.env['PATH']}`, HOME: home, TMPDIR: home };
  await promisify(execFile)('sh', ['-c', script], { env, maxBuffer: 64 * 1024 * 1024 });

  for (const [index, { script: pasted, json, text }] of examples.entries()) {
    const { bodies, statuses } = await answersIn(join(home, `answers-${index}`));
    expect(bodies.length, pasted).toBeGreaterThan(0);
    const failed = statuses.filter((status) => status >= 400 || status === 0);
    expect(failed, `${pasted}${bodies.join('\n')}`).toEqual(json.flatMap(statusOf));
    for (const [at, shown] of json.entries()) {
      const came = bodies.at(at - json.length) ?? '';
      expect(differences(JSON.parse(shown), JSON.parse(came), '', false), came).toEqual([]);
    }
    for (const shown of text) {
      const came = (bodies.at(-1) ?? '').replaceAll(`localhost:${pagePort}`, 'localhost:7330');
      expect(comparable(came)).toBe(comparable(shown));
    }
  }
  expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
});
