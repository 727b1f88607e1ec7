import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

interface SourceFile {
  /** Path below `src`. */
  readonly path: string;
  readonly lines: number;
  /** Files below `src`, as paths like `path`, and packages by their specifier. */
  readonly imports: readonly string[];
  readonly text: string;
  /** Without comments. */
  readonly code: string;
}

const files: SourceFile[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(SRC, path), 'utf8');
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
    return { path, text, code, lines: text.split('\n').length - 1, imports: importsOf(path, text) };
  });

function importsOf(path: string, text: string): string[] {
  const found = text.matchAll(/^(?:import|export)\b[^;'"]*?['"]([^'"]+)['"]/gm);
  const dynamic = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g);
  return [...found, ...dynamic].map(([, specifier = '']) =>
    specifier.startsWith('.') ? relative(SRC, join(SRC, dirname(path), specifier)) : specifier,
  );
}

/** The first folder, or '' for files of `src` itself. */
function room(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : '';
}

/** docs/architecture.md, "Floors": what a room may import of the others. Files of `src` itself are floor 4. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  '': ['routes', 'sessions', 'page', 'policy', 'residual'],
  routes: ['sessions', 'page', 'policy'],
  sessions: ['page', 'policy', 'residual'],
  page: [],
  policy: [],
  residual: [],
};

const NEVER: Record<string, readonly RegExp[]> = {
  routes: [/^node:net$/, /^node:child_process$/, /^puppeteer-core/],
  sessions: [/^fastify/, /^@fastify\//],
  page: [/^fastify/, /^@fastify\//, /^node:child_process$/],
  policy: [/^fastify/, /^@fastify\//, /^puppeteer-core/],
  residual: [/^fastify/, /^@fastify\//, /^puppeteer-core/],
};

const rooms = Object.keys(MAY_IMPORT);

test('there are source files in every room', () => {
  for (const name of rooms)
    expect(files.filter((file) => room(file.path) === name).length).toBeGreaterThan(0);
  expect(new Set(files.map((file) => room(file.path)))).toEqual(new Set(rooms));
});

test.each(rooms)('imports of room "%s" run downwards only', (name) => {
  const upward = files
    .filter((file) => room(file.path) === name)
    .flatMap((file) =>
      file.imports
        .filter((target) => target.endsWith('.ts'))
        .filter((target) => {
          const to = room(target);
          if (to === name) return false;
          if (to === '') return target !== 'errors.ts';
          return !MAY_IMPORT[name]?.includes(to);
        })
        .map((target) => `${file.path} → ${target}`),
    );
  expect(upward).toEqual([]);
});

test.each(Object.keys(NEVER))('room "%s" imports no package that belongs elsewhere', (name) => {
  const wrong = files
    .filter((file) => room(file.path) === name)
    .flatMap((file) =>
      file.imports
        .filter((target) => NEVER[name]?.some((pattern) => pattern.test(target)))
        // IP parsing, sockets and TLS of the check that a Host header holds an address: a pure function of node:net.
        .filter((target) => !(target === 'node:net' && /import \{ isIP \} from 'node:net'/.test(file.text)))
        .map((target) => `${file.path} → ${target}`),
    );
  expect(wrong).toEqual([]);
});

test('no imports in a circle', () => {
  const graph = new Map(files.map((file) => [file.path, runtimeImports(file)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (path: string, trail: string[]): void => {
    if (trail.includes(path)) {
      circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  expect(circles).toEqual([]);
});

/** Imports that exist at run time: `import type` disappears. */
function runtimeImports(file: SourceFile): string[] {
  return importsOf(file.path, file.text.replaceAll(/^import type\b[^;]*;/gm, '')).filter((target) =>
    target.endsWith('.ts'),
  );
}

test('no file is over 400 lines', () => {
  expect(files.filter((file) => file.lines > 400).map((file) => `${file.path}: ${file.lines}`)).toEqual([]);
});

test('no barrels: a file that only re-exports owns nothing', () => {
  const barrels = files.filter((file) => {
    const code = file.code.trim();
    return (
      code !== '' &&
      code.split(';').every((one) => one.trim() === '' || /^export\b[^;]*\bfrom\b/.test(one.trim()))
    );
  });
  expect(barrels.map((file) => file.path)).toEqual([]);
});

test('types are not silenced', () => {
  const loose = files.flatMap((file) =>
    [
      ...file.code.matchAll(
        /\bas any\b|: any\b|as unknown as|@ts-(?:ignore|expect-error|nocheck)|catch(?: \(\w+\))? ?\{ ?\}/g,
      ),
    ].map(([found]) => `${file.path}: ${found}`),
  );
  expect(loose).toEqual([]);
});

test('only main.ts touches process.argv and process.exit', () => {
  // In the second it is in the text of a program that is run as a process of its own.
  const may = ['main.ts', 'sessions/own-network.ts'];
  const wrong = files.filter(
    (file) => /process\.(?:argv|exit\b)/.test(file.text) && !may.includes(file.path),
  );
  expect(wrong.map((file) => file.path)).toEqual([]);
});
