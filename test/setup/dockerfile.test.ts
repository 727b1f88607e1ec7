import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';

const repo = join(import.meta.dirname, '../..');
const text = readFileSync(join(repo, 'Dockerfile'), 'utf8');
const dockerfile = DockerfileParser.parse(text);

test('the linter has nothing to say, and can say something', () => {
  expect(validate(text)).toEqual([]);
  expect(validate('FROM x\nCOPPY a b\n').length).toBeGreaterThan(0);
});

test('everything that is copied from the context exists and is not ignored', () => {
  const ignore = readFileSync(join(repo, '.dockerignore'), 'utf8').split('\n');
  const sources = dockerfile
    .getCOPYs()
    .filter((copy) => copy.getFlags().every((flag) => flag.getName() !== 'from'))
    .flatMap((copy) => copy.getArguments().slice(0, -1))
    .map((argument) => argument.getValue());
  expect(sources).toContain('src');
  expect(sources.filter((source) => !existsSync(join(repo, source)))).toEqual([]);
  expect(sources.filter((source) => !ignore.includes(`!${source}`))).toEqual([]);
  expect(ignore).toContain('*');
});

test('the service is not root, and the last stage runs it under an init', () => {
  const instructions = dockerfile.getInstructions().map((instruction) => instruction.getKeyword());
  const user = dockerfile.getInstructions().findLast((instruction) => instruction.getKeyword() === 'USER');
  expect(user?.getArguments().map(String)).toEqual(['airlock']);
  expect(instructions.lastIndexOf('USER')).toBeGreaterThan(instructions.lastIndexOf('RUN'));
  const [entrypoint] = dockerfile.getENTRYPOINTs();
  expect(
    entrypoint
      ?.getJSONStrings()
      .map((part) => part.getJSONValue())
      .slice(0, 3),
  ).toEqual(['tini', '--', 'node']);
});
