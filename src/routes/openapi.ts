import type {} from '@fastify/swagger'; // adds operationId, tags … to FastifySchema
import type { FastifySchema } from 'fastify';
import { type TObject, type TSchema, Type } from 'typebox';
import { errorTable } from '../errors.ts';
import type { AnyOperation } from './define.ts';

/** Problems that any operation of a scope can answer with. */
const ALWAYS = {
  service: ['invalid_request', 'unauthorized', 'forbidden_origin', 'misdirected_host', 'internal'],
  observer: ['invalid_request', 'unauthorized', 'session_not_found', 'session_gone', 'internal'],
  page: [
    'invalid_request',
    'unauthorized',
    'session_not_found',
    'session_gone',
    'tab_not_found',
    'dialog_open',
    'page_crashed',
    'browser_crashed',
    'lane_full',
    'timeout',
    'internal',
  ],
} as const;

/** The route schema that OpenAPI is generated from: parameters, body, answers, problems. */
export function operationSchema(operation: AnyOperation, input: TObject, inBody: boolean): FastifySchema {
  const pathNames = new Set(operation.pathInputs);
  const rest = pick(input, (name) => !pathNames.has(name));
  const params = pick(input, (name) => pathNames.has(name));
  const pathProperties: Record<string, TSchema> = { ...params.properties };
  if (operation.path.includes('{id}')) pathProperties['id'] = { type: 'string', description: 'session id' };
  const schema: FastifySchema = {
    operationId: operation.name,
    summary: operation.summary,
    tags: [operation.tag],
    response: responses(operation),
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.open ? { security: [] } : {}),
  };
  if (Object.keys(pathProperties).length > 0) {
    schema.params = { type: 'object', properties: pathProperties, required: Object.keys(pathProperties) };
  }
  if (operation.headers !== undefined) schema.headers = operation.headers;
  if (Object.keys(rest.properties).length > 0) {
    if (operation.multipart === 'also') schema.body = { content: bodies(rest) };
    else if (inBody) schema.body = rest;
    else schema.querystring = rest;
  }
  if (operation.multipart === true) {
    schema.consumes = ['multipart/form-data'];
    const file = Type.Object({ file: Type.String({ format: 'binary' }) });
    schema.body = { content: { 'multipart/form-data': { schema: file } } };
  }
  return schema;
}

/** As JSON, or as a form that also has the files. */
function bodies(schema: TObject): Record<string, unknown> {
  const { files: _, ...fields } = schema.properties;
  const files = { type: 'array', items: { type: 'string', format: 'binary' } };
  return {
    'application/json': { schema },
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: { ...fields, files },
        required: (schema.required ?? []).filter((name) => name !== 'files'),
      },
    },
  };
}

function pick(schema: TObject, keep: (name: string) => boolean): TObject {
  const properties = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => keep(name)));
  return Type.Object(properties, { additionalProperties: false });
}

function responses(operation: AnyOperation): Record<string, unknown> {
  const content: Record<string, unknown> = {};
  for (const type of operation.binary) content[type] = { schema: { type: 'string', format: 'binary' } };
  if (operation.text) content['text/plain'] = { schema: { type: 'string', 'x-untrusted': true } };
  if (operation.binary.length === 0) content['application/json'] = { schema: operation.result };
  const answers: Record<string, unknown> = {
    [operation.status]: { description: operation.summary, content },
  };
  const byStatus = Map.groupBy(
    new Set([...ALWAYS[operation.scope], ...operation.errors]),
    (code) => errorTable[code].status,
  );
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    answers[status] = {
      description: codes.join(', '),
      content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
    };
  }
  return answers;
}
