import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import type { Uploads } from '../page/actions/upload-files.ts';
import type { Operation } from '../page/operation.ts';
import type { Metrics } from '../sessions/metrics.ts';
import type { Service } from '../sessions/service.ts';
import type { Session } from '../sessions/session.ts';
import type { Problem } from './problem.ts';

/** A part of a multipart body that is a file. */
export interface UploadedFile {
  /** As the client gives it. */
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Facts of the HTTP request that a handler may need. */
export interface RequestFacts {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the client hangs up. */
  readonly signal: AbortSignal;
  /** The files of a multipart body, as they come in. @throws AirlockError `unsupported_media_type` */
  files(): AsyncIterable<UploadedFile>;
  /** Files that came in the body, stored in the session's directory. */
  readonly uploads?: Uploads;
}

/** A line of GET /v1/capabilities. */
export interface Capability {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly scope: Scope;
  readonly request: unknown;
  readonly response: unknown;
}

export interface ServiceContext {
  readonly service: Service;
  readonly request: RequestFacts;
  readonly metrics: Metrics;
  /** Every operation there is. */
  capabilities(): readonly Capability[];
  /**
   * Checks one step of a batch and gives the function that runs it, which never throws.
   * @param pointer where the step stands in the request, for problems (RFC 6901)
   * @throws AirlockError `invalid_request` for a name that is no step, or an input that does not fit
   */
  prepareStep(
    session: Session,
    step: Readonly<Record<string, unknown>>,
    pointer: string,
  ): () => Promise<StepResult>;
}

export interface SessionContext extends ServiceContext {
  readonly session: Session;
}

export interface PageContext extends SessionContext {
  readonly op: Operation;
}

/**
 * - `service`: about no session;
 * - `observer`: about a session, never waits for its lane, so a hung page can always be inspected and closed;
 * - `page`: acts on a tab, in the lane, under a deadline.
 */
export type Scope = 'service' | 'observer' | 'page';

interface ContextOf {
  service: ServiceContext;
  observer: SessionContext;
  page: PageContext;
}

/** A body that is not JSON. */
export class Bytes {
  readonly bytes: Uint8Array;
  readonly contentType: string;

  constructor(bytes: Uint8Array, contentType: string) {
    this.bytes = bytes;
    this.contentType = contentType;
  }
}

/** A body that goes on as long as there is something to tell: server-sent events, lines of a batch. */
export class TextStream {
  readonly contentType: string;
  readonly chunks: AsyncIterable<string>;

  constructor(contentType: string, chunks: AsyncIterable<string>) {
    this.contentType = contentType;
    this.chunks = chunks;
  }
}

/** The bytes of a file, for the client to save: whatever is in it, no browser shows it as a page of this service. */
export class FileBody {
  readonly content: Readable;
  readonly bytes: number;
  readonly name: string;

  constructor(content: Readable, bytes: number, name: string) {
    this.content = content;
    this.bytes = bytes;
    this.name = name;
  }
}

/** What one step of a batch answered. */
export interface StepResult {
  readonly op: string;
  readonly ok: boolean;
  /** What the route would have answered; bytes as `{contentType, base64}`. */
  readonly result?: unknown;
  readonly problem?: Problem;
}

/** A result with headers or a status of its own. */
export class Reply<T> {
  readonly body: T;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(body: T, init: { status?: number; headers?: Record<string, string> } = {}) {
    this.body = body;
    this.status = init.status;
    this.headers = init.headers ?? {};
  }
}

/** Bytes of a body that may hold a storage state: what three full origins have (10 MiB each in Chrome). */
export const STATE_BODY_LIMIT = 32 * 1024 * 1024;

interface Definition<S extends Scope, I extends TObject, R extends TSchema> {
  /** As in a batch step and in capabilities: `click`, `fill-form`, `cookies.set`. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With OpenAPI braces: `/v1/sessions/{id}/click`. */
  readonly path: string;
  /** One line, for capabilities and OpenAPI. */
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly scope: S;
  /**
   * All inputs of the operation in one flat object. Over HTTP, members named in the path come from there, the others
   * from the query (GET, DELETE) or the body (POST, PUT, PATCH). `tab` and `timeoutMs` are added to page operations.
   */
  readonly input: I;
  /** Headers that mean something to this operation, for OpenAPI; the handler reads and checks them. */
  readonly headers?: TObject;
  readonly result: R;
  /** Status of a success; 200 unless said. */
  readonly status?: number;
  /** Problems that this operation can answer with, besides those that any can. */
  readonly errors?: readonly ErrorCode[];
  /** Default time limit of a page operation in milliseconds; 10 000 unless said. */
  readonly timeoutMs?: number;
  /** The largest body in bytes, where 4 MiB are too little. */
  readonly bodyLimit?: number;
  /**
   * The body is multipart/form-data, which the handler reads with `request.files()`. `also`: it may be JSON or such a form, whose
   * files are in `request.uploads` and whose other parts are the input.
   */
  readonly multipart?: boolean | 'also';
  /** Content types of a `Bytes` result. */
  readonly binary?: readonly string[];
  /**
   * The result as plain text: what a client gets that does not ask for JSON (`Accept: application/json` does). Text of
   * a page, so `?fence=1` applies.
   */
  readonly text?: (result: Static<R>) => string;
  /** Answers without a token (health probes and pages for people). */
  readonly open?: boolean;
  run(
    context: ContextOf[S],
    input: Static<I>,
  ): Promise<Static<R> | Bytes | FileBody | TextStream | Reply<Static<R>>>;
}

/** A definition with its types erased: what routes, OpenAPI, capabilities and batch iterate over. */
export interface AnyOperation {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly tag: string;
  readonly scope: Scope;
  readonly input: TObject;
  readonly headers: TObject | undefined;
  readonly result: TSchema;
  readonly status: number;
  readonly errors: readonly ErrorCode[];
  readonly timeoutMs: number;
  readonly bodyLimit: number | undefined;
  readonly multipart: boolean | 'also';
  readonly binary: readonly string[];
  readonly text: ((result: unknown) => string) | undefined;
  readonly open: boolean;
  /** Names of inputs that stand in the path, `id` of the session not among them. */
  readonly pathInputs: readonly string[];
  /** True when some member of the result carries text or data of a page. */
  readonly untrusted: boolean;
  run(context: ServiceContext | SessionContext | PageContext, input: unknown): Promise<unknown>;
}

/** One definition from which come the route, its OpenAPI entry, its line in capabilities and its batch step. */
export function defineOperation<S extends Scope, I extends TObject, R extends TSchema>(
  definition: Definition<S, I, R>,
): AnyOperation {
  const { text } = definition;
  return {
    name: definition.name,
    method: definition.method,
    path: definition.path,
    summary: definition.summary,
    description: definition.description,
    tag: definition.tag,
    scope: definition.scope,
    input: definition.input,
    headers: definition.headers,
    result: definition.result,
    status: definition.status ?? 200,
    errors: definition.errors ?? [],
    timeoutMs: definition.timeoutMs ?? 10_000,
    bodyLimit: definition.bodyLimit,
    multipart: definition.multipart ?? false,
    binary: definition.binary ?? [],
    text: text ? (result) => text(result as Static<R>) : undefined,
    open: definition.open ?? false,
    pathInputs: pathInputs(definition.path),
    untrusted: hasUntrusted(definition.result),
    // The router checked the input against the schema and built the context for the scope.
    run: (context, input) => definition.run(context as ContextOf[S], input as Static<I>),
  };
}

function pathInputs(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '').filter((name) => name !== 'id');
}

/** Looks for `x-untrusted: true` anywhere in a schema. */
function hasUntrusted(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  if ('x-untrusted' in schema && schema['x-untrusted'] === true) return true;
  return Object.values(schema).some((member) => hasUntrusted(member));
}
