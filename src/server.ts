import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import Fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { AirlockError } from './errors.ts';
import { type AccessOptions, checkSender, checkToken } from './routes/access.ts';
import { addOpenapi, addPages } from './routes/docs.ts';
import { missingRoute } from './routes/missing.ts';
import { addMultipart } from './routes/multipart.ts';
import { operations } from './routes/operations.ts';
import { PROBLEM_TYPE, toAirlockError, toProblem } from './routes/problem.ts';
import { registerOperation, sessionIdOf } from './routes/register.ts';
import { RequestLog } from './routes/request-log.ts';
import { Metrics } from './sessions/metrics.ts';
import type { Service } from './sessions/service.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a token: to everybody, or to callers of this machine. */
    open?: boolean | 'loopback';
  }
}

export interface ServerOptions {
  readonly service: Service;
  readonly logger: FastifyBaseLogger;
  readonly access: AccessOptions;
  readonly version: string;
}

/** A body of a request is at most this, in bytes; uploads have a limit of their own. */
const BODY_LIMIT = 4 * 1024 * 1024;

/** What a caller may call a request: it goes into headers, answers and logs. */
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/** Told apart from those of other services in the same log by their beginning. */
const thisRun = randomBytes(6).toString('base64url');
let requests = 0;

function nextRequestId(): string {
  requests += 1;
  return `${thisRun}-${requests}`;
}

/** Builds the HTTP server with all its routes. It does not listen. */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new RequestLog(),
    bodyLimit: BODY_LIMIT,
    // A client that sends its request a byte at a time must not hold a socket for ever.
    requestTimeout: 60_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    requestIdHeader: false,
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : nextRequestId();
    },
    // A URL that cannot be decoded, or a request that is no HTTP, has its problem too.
    frameworkErrors: answerProblem,
    clientErrorHandler: answerBrokenClient,
    forceCloseConnections: true,
    trustProxy: false,
    // A file name of 255 bytes, each of them escaped.
    routerOptions: { maxParamLength: 765 },
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
  });
  // JSON only: text/plain is what a form of a foreign page can send without a preflight.
  app.removeContentTypeParser('text/plain');
  // Many clients name a content type on requests without a body, as on DELETE: an empty body is no body.
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parseJson(request, String(body), done);
  });
  await addMultipart(app);
  const parts = { service: options.service, metrics: new Metrics(options.service) };
  addHooks(app, options, parts.metrics);
  await addOpenapi(app, options.version);
  await addPages(app);
  for (const operation of operations) registerOperation(app, () => parts, operation, operations);
  return app;
}

function addHooks(app: FastifyInstance, options: ServerOptions, metrics: Metrics): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({
      'X-Request-Id': request.id,
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    });
    checkSender(request, options.access);
    checkToken(request, options.access, request.routeOptions.config.open);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    metrics.answered(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const { error, allow } = missingRoute(request.method, request.url.split('?')[0] ?? '', operations);
    if (allow.length > 0) reply.header('Allow', allow.join(', '));
    throw error;
  });
}

function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = toAirlockError(error);
  if (problem.code === 'internal') request.log.error({ err: problem.cause ?? problem }, 'internal error');
  if (problem.retryAfterSec !== undefined) reply.header('Retry-After', String(problem.retryAfterSec));
  // Closing on a client that still sends resets its connection, and the answer is lost: the rest is read and dropped.
  if (problem.code === 'too_large') reply.removeHeader('connection');
  if (problem.code === 'unauthorized') reply.header('WWW-Authenticate', 'Bearer');
  const sessionId = sessionIdOf(request);
  const body = toProblem(problem, {
    requestId: request.id,
    instance: request.url.split('?')[0] ?? '',
    sessionId: sessionId === '' ? undefined : sessionId,
    acceptLanguage: request.headers['accept-language'],
  });
  if (body.diagnosis !== undefined) reply.header('Airlock-Untrusted', 'page');
  return reply
    .code(problem.status)
    .type(PROBLEM_TYPE)
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(body);
}

/** What is no HTTP gets an answer by hand: there is no request that a reply could belong to. */
function answerBrokenClient(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = new AirlockError('malformed_body', `This is not an HTTP request: ${error.code}`);
  const body = JSON.stringify(
    toProblem(problem, {
      requestId: nextRequestId(),
      instance: '',
      sessionId: undefined,
      acceptLanguage: undefined,
    }),
  );
  const head = [
    'HTTP/1.1 400 Bad Request',
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
