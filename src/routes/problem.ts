import { type Static, Type } from 'typebox';
import {
  AirlockError,
  adviceFor,
  type ErrorCode,
  errorCodes,
  errorTable,
  messageOf,
  type Suggestion,
} from '../errors.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** RFC 9457. Codes add members of their own; docs/errors.md lists them. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: 'path of a page about the code' }),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.Enum(errorCodes),
    detail: Type.String({ 'x-untrusted': true }),
    instance: Type.String({ description: 'path of the request' }),
    retryable: Type.Boolean(),
    suggestion: Type.String(),
    requestId: Type.String(),
    sessionId: Type.Optional(Type.String()),
    diagnosis: Type.Optional(
      Type.Unknown({ 'x-untrusted': true, description: 'the page, where one was concerned' }),
    ),
  },
  { $id: 'Problem', additionalProperties: true },
);

export type Problem = Static<typeof Problem>;

export interface ProblemContext {
  readonly requestId: string;
  /** Path of the request, without the query: it may hold secrets. */
  readonly instance: string;
  readonly sessionId: string | undefined;
  readonly acceptLanguage: string | undefined;
}

/** The wire form of an error. */
export function toProblem(error: AirlockError, context: ProblemContext): Problem {
  const row = errorTable[error.code];
  const language = prefersPortuguese(context.acceptLanguage) ? 'pt-BR' : 'en';
  return {
    ...error.extra,
    type: `/problems/${error.code}`,
    title: row.title,
    status: row.status,
    code: error.code,
    detail: error.message,
    instance: context.instance,
    retryable: error.retryable,
    suggestion: suggestionOf(error)[language],
    requestId: context.requestId,
    ...(context.sessionId === undefined ? {} : { sessionId: context.sessionId }),
  };
}

/** What helps against this cause; else against the code in general. */
function suggestionOf(error: AirlockError): Suggestion {
  const { code, extra, advice } = error;
  const name = advice ?? (code === 'policy_denied' ? reasonOf(extra['decision']) : undefined);
  return (name === undefined ? undefined : adviceFor(code, name)) ?? errorTable[code].suggestion;
}

function reasonOf(decision: unknown): string | undefined {
  if (typeof decision !== 'object' || decision === null || !('reason' in decision)) return undefined;
  return typeof decision.reason === 'string' ? decision.reason : undefined;
}

/** Turns whatever was thrown while a request was handled into an AirlockError; what nobody foresaw is `internal`. */
export function toAirlockError(error: unknown): AirlockError {
  if (error instanceof AirlockError) return error;
  const code = fastifyCode(error);
  if (code !== undefined) return new AirlockError(code, messageOf(error), { cause: error });
  return new AirlockError('internal', 'The service failed on this request; its log says why', {
    cause: error,
  });
}

/** Fastify's own refusals, by its stable codes (fastify/lib/errors.js). */
function fastifyCode(error: unknown): ErrorCode | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return 'unsupported_media_type';
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return 'too_large';
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_CTP_INVALID_HANDLER':
      return 'malformed_body';
    default:
      return 'statusCode' in error && error.statusCode === 400 ? 'malformed_body' : undefined;
  }
}

/** The first of the supported languages by quality (RFC 9110 section 12.5.4), kept simple: two languages. */
function prefersPortuguese(header: string | undefined): boolean {
  if (header === undefined) return false;
  let [english, portuguese] = [0.001, 0];
  for (const part of header.slice(0, 500).split(',')) {
    const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
    const quality = Number(/^\s*q=([\d.]+)$/.exec(parameters[0] ?? '')?.[1] ?? 1);
    if (tag === 'pt' || tag === 'pt-br') portuguese = Math.max(portuguese, quality);
    if (tag === 'en' || tag.startsWith('en-')) english = Math.max(english, quality);
  }
  return portuguese > english;
}
