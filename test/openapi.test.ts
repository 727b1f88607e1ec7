import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { errorCodes, errorTable } from '../src/errors.ts';
import { openapiDocument } from '../src/routes/docs.ts';
import { operations } from '../src/routes/operations.ts';

const generated = JSON.parse(JSON.stringify(await openapiDocument(packageJson.version)));

test('openapi/openapi.json is what the routes say (npm run openapi writes it)', async () => {
  const committed = JSON.parse(await readFile(new URL('../openapi/openapi.json', import.meta.url), 'utf8'));
  expect(committed).toEqual(generated);
});

test('the document is valid OpenAPI 3.1', async () => {
  expect(generated.openapi).toBe('3.1.0');
  const result = await new Validator().validate(structuredClone(generated));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

test('every operation has an entry with its name, and no name or route is used twice', () => {
  const ids = Object.entries(generated.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { operationId: string }>).map(
      ([method, entry]) => `${entry.operationId} ${method.toUpperCase()} ${path}`,
    ),
  );
  expect(ids.sort()).toEqual(operations.map((one) => `${one.name} ${one.method} ${one.path}`).sort());
  expect(new Set(operations.map((one) => one.name)).size).toBe(operations.length);
});

test('members that carry text of a page are marked', () => {
  const schema =
    generated.paths['/v1/sessions/{id}/navigate'].post.responses['200'].content['application/json'].schema;
  expect(schema.properties.title['x-untrusted']).toBe(true);
});

test('the error table has a status, a title and a suggestion in both languages for every code', () => {
  for (const code of errorCodes) {
    const row = errorTable[code];
    expect(row.status).toBeGreaterThanOrEqual(400);
    for (const text of [row.title, row.suggestion.en, row.suggestion['pt-BR']])
      expect(text.length).toBeGreaterThan(8);
    expect(row.suggestion.en).not.toBe(row.suggestion['pt-BR']);
  }
});
