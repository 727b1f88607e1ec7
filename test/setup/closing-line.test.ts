import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const repo = join(import.meta.dirname, '../..');

/** Runs vitest with the reporter on test files of the given text: its last line of output and its exit code. */
function runVitest(files: Readonly<Record<string, string>>): { last: string; code: number | null } {
  const dir = mkdtempSync(join(tmpdir(), 'closing-line-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  symlinkSync(join(repo, 'node_modules'), join(dir, 'node_modules'));
  const reporter = join(repo, 'test/support/closing-line-reporter.ts');
  const config = `import Line from ${JSON.stringify(reporter)};
export default { test: { include: ['*.test.ts'], reporters: ['default', new Line()] } };`;
  writeFileSync(join(dir, 'vitest.config.ts'), config);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(dir, name), `import { test, expect } from 'vitest';\n${text}`);
  }
  const vitest = join(repo, 'node_modules/vitest/vitest.mjs');
  const run = spawnSync(process.execPath, [vitest, 'run', '--root', dir], { encoding: 'utf8' });
  return { last: run.stdout.trimEnd().split('\n').at(-1) ?? '', code: run.status };
}

test('passes, skips and todos are counted, and the run passes', () => {
  const files = { 'a.test.ts': "test('a', () => {}); test.skip('b', () => {}); test.todo('c');" };
  expect(runVitest(files)).toEqual({ last: '1 passed, 0 failed, 2 skipped', code: 0 });
});

test('failures, files that cannot be loaded and errors outside a test are failures, and the run fails', () => {
  const files = {
    'fails.test.ts': "test('a', () => { expect(1).toBe(2); }); test('b', () => {});",
    'broken.test.ts': "import './absent.ts';\ntest('c', () => {});",
    'stray.test.ts': "test('d', () => { void Promise.reject(new Error('stray')); });",
  };
  expect(runVitest(files)).toEqual({ last: '2 passed, 3 failed, 0 skipped', code: 1 });
});
