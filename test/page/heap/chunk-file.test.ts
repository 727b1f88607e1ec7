import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ChunkFile } from '../../../src/page/heap/chunk-file.ts';

const dir = await mkdtemp(join(tmpdir(), 'chunk-file-'));
afterAll(() => rm(dir, { recursive: true }));

test('parts are written in order, and the source is held while too much of them waits', async () => {
  let held = 0;
  let released = 0;
  const file = await ChunkFile.create(join(dir, 'a'), () => {
    held += 1;
    return () => {
      released += 1;
    };
  });
  const part = 'x'.repeat(1 << 20);
  for (let i = 0; i < 40; i++) file.append(`${i}:${part}\n`);
  expect([held, released]).toEqual([1, 0]);
  await file.close();
  expect([held, released]).toEqual([1, 1]);
  const text = await readFile(file.path, 'utf8');
  expect(text.length).toBe(file.bytes);
  expect(text.split('\n').map((line) => line.split(':')[0])).toEqual([
    ...Array.from({ length: 40 }, (_, i) => String(i)),
    '',
  ]);
});

test('a discarded file is gone, with whatever still waited', async () => {
  const file = await ChunkFile.create(join(dir, 'b'), () => () => undefined);
  file.append('x'.repeat(1 << 22));
  await file.discard();
  file.append('late');
  await expect(stat(file.path)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a file that is there already is never written to', async () => {
  await (await ChunkFile.create(join(dir, 'c'), () => () => undefined)).close();
  await expect(ChunkFile.create(join(dir, 'c'), () => () => undefined)).rejects.toMatchObject({
    code: 'EEXIST',
  });
});
