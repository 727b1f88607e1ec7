import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AirlockError } from '../errors.ts';
import type { Metrics } from '../sessions/metrics.ts';
import type { Service } from '../sessions/service.ts';
import type { UploadFolder } from '../sessions/upload-folder.ts';
import { contextOf } from './context.ts';
import {
  type AnyOperation,
  Bytes,
  FileBody,
  Reply,
  type RequestFacts,
  type ServiceContext,
  TextStream,
} from './define.ts';
import { fence } from './fence.ts';
import { fullInput, runOperation } from './invoke.ts';
import { attachment, filesOf, readForm } from './multipart.ts';
import { operationSchema } from './openapi.ts';
import { logAborted } from './request-log.ts';
import { inputValidator } from './validate.ts';

/** Makes one route of one definition. */
export function registerOperation(
  app: FastifyInstance,
  parts: () => { service: Service; metrics: Metrics },
  operation: AnyOperation,
  all: readonly AnyOperation[],
): void {
  const schema = fullInput(operation);
  const inBody = operation.method === 'POST' || operation.method === 'PUT' || operation.method === 'PATCH';
  const validate = inputValidator(schema, inBody ? 'body' : 'query');
  // The parts of a form are text, as in a query.
  const validateForm = inputValidator(schema, 'query');
  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    schema: operationSchema(operation, schema, inBody),
    // The whole input is checked by one validator below: path, query and body make one object.
    validatorCompiler: () => () => true,
    serializerCompiler: () => (data) => JSON.stringify(data),
    config: { open: operation.open },
    ...(operation.bodyLimit === undefined ? {} : { bodyLimit: operation.bodyLimit }),
    handler: async (request, reply) => {
      if (request.isMultipart() && !operation.multipart) {
        throw new AirlockError('unsupported_media_type', `${operation.name} takes JSON`);
      }
      if (operation.multipart === 'also' && request.isMultipart()) {
        const result = await withUploads(request, parts().service, async (folder) => {
          const form = await readForm(request, folder);
          validateForm(form);
          const facts = { ...factsOf(request, reply), uploads: folder };
          return invoke(contextOf(parts(), all, facts), operation, request, form);
        });
        return send(operation, request, reply, result, false);
      }
      const input = readInput(request, operation, inBody);
      validate(input);
      const result = await invoke(
        contextOf(parts(), all, factsOf(request, reply)),
        operation,
        request,
        input,
      );
      return send(operation, request, reply, result, input['fence'] === true);
    },
  });
}

/** Keeps the files of a body for the session, but for those that no page has been given. */
async function withUploads<T>(
  request: FastifyRequest,
  service: Service,
  work: (folder: UploadFolder) => Promise<T>,
): Promise<T> {
  const folder = service.get(sessionIdOf(request)).uploadFolder();
  try {
    return await work(folder);
  } catch (error) {
    if (!folder.given) await folder.discard();
    throw error;
  }
}

function readInput(
  request: FastifyRequest,
  operation: AnyOperation,
  inBody: boolean,
): Record<string, unknown> {
  const source =
    operation.multipart === true
      ? {}
      : inBody
        ? request.body === undefined
          ? {}
          : request.body
        : request.query;
  if (!isPlainObject(source)) {
    throw new AirlockError('invalid_request', 'The body must be a JSON object', { extra: { pointer: '' } });
  }
  const input: Record<string, unknown> = { ...source };
  const params: Record<string, unknown> = isPlainObject(request.params) ? request.params : {};
  for (const name of operation.pathInputs) input[name] = params[name];
  // Of operations that are about no open session, the id is an input like others.
  if (operation.scope === 'service' && 'id' in params) input['id'] = params['id'];
  return input;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function factsOf(request: FastifyRequest, reply: FastifyReply): RequestFacts {
  return {
    id: request.id,
    headers: request.headers,
    signal: hangUp(request, reply),
    files: () => filesOf(request),
  };
}

function invoke(
  context: ServiceContext,
  operation: AnyOperation,
  request: FastifyRequest,
  input: Record<string, unknown>,
): Promise<unknown> {
  const session = operation.scope === 'service' ? undefined : context.service.get(sessionIdOf(request));
  return runOperation(context, operation, session, input);
}

export function sessionIdOf(request: FastifyRequest): string {
  const { params } = request;
  return isPlainObject(params) && typeof params['id'] === 'string' ? params['id'] : '';
}

/** Aborted when the client goes away before it has its answer. */
function hangUp(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return;
    logAborted(request);
    controller.abort();
  });
  return controller.signal;
}

function send(
  operation: AnyOperation,
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
  fenced: boolean,
): FastifyReply {
  if (operation.untrusted || operation.text || operation.binary.length > 0) {
    reply.header('Airlock-Untrusted', 'page');
  }
  let body = result;
  let status = operation.status;
  if (body instanceof Reply) {
    status = body.status ?? status;
    reply.headers(body.headers);
    body = body.body;
  }
  reply.code(status);
  if (body instanceof Bytes) {
    return reply
      .type(body.contentType)
      .send(Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.length));
  }
  if (body instanceof FileBody) {
    return reply
      .type('application/octet-stream')
      .headers({ 'Content-Length': String(body.bytes), 'Content-Disposition': attachment(body.name) })
      .send(body.content);
  }
  if (body instanceof TextStream) return reply.type(body.contentType).send(Readable.from(body.chunks));
  if (operation.text && !wantsJson(request.headers.accept)) {
    const text = operation.text(body);
    return reply.type('text/plain; charset=utf-8').send(fenced ? fence(text) : text);
  }
  return reply.type('application/json; charset=utf-8').send(body);
}

/** A client that names JSON gets JSON; curl, which accepts anything, gets text where the operation has it. */
function wantsJson(accept: string | undefined): boolean {
  return accept !== undefined && /application\/(?:[\w.+-]*\+)?json/i.test(accept);
}
