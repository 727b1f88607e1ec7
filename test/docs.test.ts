import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { errorsPage } from '../scripts/docs-errors.ts';
import { SettingsSchema } from '../src/config.ts';
import { errorCodes, errorTable } from '../src/errors.ts';
import { operations } from '../src/routes/operations.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Page {
  /** Below the root of the repository. */
  readonly path: string;
  readonly text: string;
  /** Without blocks of code. */
  readonly prose: string;
}

const pages: readonly Page[] = ['README.md', ...markdownIn('docs')].map((path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, prose: text.replace(/^```[\s\S]*?^```/gm, '') };
});

function markdownIn(directory: string): string[] {
  return readdirSync(join(ROOT, directory))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(directory, name));
}

/** All matches of a pattern over the pages, as `page: match`. */
function find(pattern: RegExp, part: 'text' | 'prose' = 'prose'): { at: string; groups: string[] }[] {
  return pages.flatMap(({ path, [part]: text }) =>
    [...text.matchAll(pattern)].map(([whole, ...groups]) => ({ at: `${path}: ${whole}`, groups })),
  );
}

/** As GitHub names the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

test('docs/errors.md is what src/errors.ts says (npm run docs writes it)', () => {
  expect(readFileSync(join(ROOT, 'docs/errors.md'), 'utf8')).toBe(errorsPage());
});

test('every internal link leads to a file, and to a heading in it', () => {
  const broken = pages.flatMap(({ path, prose }) =>
    [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : join(dirname(path), file);
        if (!existsSync(join(ROOT, target))) return true;
        if (anchor === undefined) return false;
        const headings = readFileSync(join(ROOT, target), 'utf8').matchAll(/^#+ (.*)$/gm);
        return ![...headings].some(([, heading = '']) => anchorOf(heading) === anchor);
      })
      .map((link) => `${path}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('every page is in the index', () => {
  const index = pages.find(({ path }) => path === 'docs/README.md')?.text ?? '';
  const missing = markdownIn('docs')
    .map((path) => path.slice('docs/'.length))
    .filter((name) => name !== 'README.md' && !index.includes(`](${name})`));
  expect(missing).toEqual([]);
});

test('a code that stands behind its status exists, with that status', () => {
  const named = find(/\b([45]\d\d) `([a-z_]+)`/g);
  expect(named.length).toBeGreaterThan(20);
  const table = new Map<string, number>(errorCodes.map((code) => [code, errorTable[code].status]));
  expect(named.filter(({ groups: [status, code = ''] }) => table.get(code) !== Number(status))).toEqual([]);
});

test('every word with an underscore is one that the source has: codes, reasons, events, rules', () => {
  const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(ROOT, 'src', path), 'utf8'))
    .join('\n');
  const named = find(/`([a-z]+(?:_[a-z]+)+)`/g);
  expect(named.length).toBeGreaterThan(20);
  const known = (word: string) => new RegExp(`['"\`]${word}['"\`]|\\b${word}: row\\(`).test(source);
  expect(named.filter(({ groups: [word = ''] }) => !known(word)).map(({ at }) => at)).toEqual([]);
});

test('every route that is named exists', () => {
  const routes = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  const named = find(/`(GET|POST|PUT|PATCH|DELETE) ([^`\s?]+)[^`]*`/g);
  expect(named.length).toBeGreaterThan(20);
  const wrong = named.filter(({ groups: [method = '', path = ''] }) => {
    const full = path.replace(/^S(?=\/|$)/, '/v1/sessions/{id}');
    return !routes.has(`${method} ${full}`);
  });
  expect(wrong.map(({ at }) => at)).toEqual([]);
});

test('docs/configuration.md has a row for each setting, with its flag, its key and its default', () => {
  const page = pages.find(({ path }) => path === 'docs/configuration.md')?.text ?? '';
  const rows = [...page.matchAll(/^\| `--([a-z-]+)` +\| `?(\w*)`? +\| (.*?) +\|/gm)];
  const told = new Map(rows.map(([, flag = '', key = '', fallback = '']) => [key, { flag, fallback }]));
  const wrong = Object.entries(SettingsSchema.properties).filter(([name, schema]) => {
    const row = told.get(name);
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (row?.flag !== flag) return true;
    const known: unknown = 'default' in schema ? schema.default : undefined;
    // Directories depend on who runs it, and lists are empty.
    const fixed = (typeof known === 'string' && !known.startsWith('/')) || typeof known === 'number';
    return fixed && row.fallback !== `\`${String(known)}\``;
  });
  expect(wrong.map(([name]) => name)).toEqual([]);
  const settings = new Set(Object.keys(SettingsSchema.properties));
  expect([...told.keys()].filter((key) => key !== '' && !settings.has(key))).toEqual([]);
});

test('every member of a session is explained in docs/sessions.md, and every operation somewhere', () => {
  const sessions = pages.find(({ path }) => path === 'docs/sessions.md')?.text ?? '';
  const create = operations.find(({ name }) => name === 'sessions.create');
  const members = Object.keys(create?.input.properties ?? {});
  expect(members.length).toBeGreaterThan(10);
  expect(members.filter((member) => !sessions.includes(`| \`${member}\``))).toEqual([]);

  const all = pages.map(({ prose }) => prose).join('\n');
  const silent = operations
    .map(({ method, path }) => `${method} ${path.replace('/v1/sessions/{id}', 'S')}`)
    .filter((route) => !all.includes(`\`${route}\``) && !all.includes(`\`${route}?`));
  expect(silent).toEqual([]);
});
