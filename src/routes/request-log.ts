import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

/**
 * One line for each request, written when its answer is out, or when its client is gone: nobody waits for the log. At `debug`
 * also one as it comes in.
 */
export class RequestLog extends LogController {
  override incomingRequest(request: FastifyRequest): void {
    request.log.debug({ req: request }, 'incoming request');
  }

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const facts = { req: request, res: reply, responseTime: reply.elapsedTime };
    if (error) request.log.error({ ...facts, err: error }, 'request errored');
    else request.log.info(facts, 'request completed');
  }

  /** Of those whose client went away `logAborted` tells. */
  override streamError(error: Error, _request: FastifyRequest, reply: FastifyReply): void {
    if ('code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    reply.log.warn({ err: error }, 'response terminated with an error with headers already sent');
  }
}

/** The client went away before it had its whole answer. Of a request that was read to its end, no hook of Fastify's hears so. */
export function logAborted(request: FastifyRequest): void {
  request.log.info({ req: request }, 'request aborted');
}
