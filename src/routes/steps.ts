import { AirlockError } from '../errors.ts';
import type { Session } from '../sessions/session.ts';
import {
  type AnyOperation,
  Bytes,
  Reply,
  type ServiceContext,
  type StepResult,
  TextStream,
} from './define.ts';
import { fullInput, runOperation } from './invoke.ts';
import { nearest } from './nearest.ts';
import { toAirlockError, toProblem } from './problem.ts';
import { type InputValidator, inputValidator } from './validate.ts';

/** Routes of a session that cannot be a step: a batch in a batch, a stream that does not end, and bytes of any length. */
const NO_STEPS = new Set(['batch', 'events', 'files.upload', 'files.get']);

/** Every operation on a session that has a route is a step of a batch, under its own name. */
export function isStep(operation: AnyOperation): boolean {
  return operation.path.startsWith('/v1/sessions/{id}/') && !NO_STEPS.has(operation.name);
}

/** Validators of steps, made on first use: a step is JSON, so its input has types, also that of a GET. */
const validators = new WeakMap<AnyOperation, InputValidator>();

/** Checks one step of a batch, and gives the function that runs it. See `ServiceContext.prepareStep`. */
export function prepareStep(
  all: readonly AnyOperation[],
  context: ServiceContext,
  session: Session,
  step: Readonly<Record<string, unknown>>,
  pointer: string,
): () => Promise<StepResult> {
  const { op, ...input } = step;
  const operation = all.find((candidate) => candidate.name === op && isStep(candidate));
  if (!operation) throw unknownStep(all, String(op), pointer);
  let validate = validators.get(operation);
  if (!validate) {
    validate = inputValidator(fullInput(operation), 'body');
    validators.set(operation, validate);
  }
  try {
    validate(input);
  } catch (error) {
    throw at(pointer, error);
  }
  return () => runStep(context, session, operation, input);
}

async function runStep(
  context: ServiceContext,
  session: Session,
  operation: AnyOperation,
  input: Record<string, unknown>,
): Promise<StepResult> {
  const op = operation.name;
  try {
    const result = await runOperation(context, operation, session, input);
    return { op, ok: true, result: plain(result) };
  } catch (error) {
    const problem = toProblem(toAirlockError(error), {
      requestId: context.request.id,
      instance: operation.path.replace('{id}', session.id),
      sessionId: session.id,
      acceptLanguage: context.request.headers['accept-language'],
    });
    return { op, ok: false, problem };
  }
}

/** A result as JSON: what a route sends as bytes is base64 here. */
function plain(result: unknown): unknown {
  if (result instanceof Reply) return plain(result.body);
  if (result instanceof TextStream) return undefined;
  if (!(result instanceof Bytes)) return result;
  const { bytes, contentType } = result;
  return {
    contentType,
    base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  };
}

function unknownStep(all: readonly AnyOperation[], name: string, pointer: string): AirlockError {
  const known = all.find((operation) => operation.name === name);
  if (known) {
    return new AirlockError('invalid_request', `${pointer}/op: ${name} cannot be a step of a batch`, {
      extra: { pointer: `${pointer}/op` },
    });
  }
  const names = all.filter(isStep).map((operation) => operation.name);
  const near = nearest(name, names);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : `; steps are ${names.join(', ')}`;
  return new AirlockError(
    'invalid_request',
    `${pointer}/op: there is no step ${JSON.stringify(name)}${hint}`,
    {
      extra: { pointer: `${pointer}/op` },
    },
  );
}

/** The same refusal, with the place of the step in front of the pointer. */
function at(pointer: string, error: unknown): unknown {
  if (!(error instanceof AirlockError)) return error;
  const inner = typeof error.extra['pointer'] === 'string' ? error.extra['pointer'] : '';
  return error.retold(
    { pointer: `${pointer}${inner}` },
    `${pointer}${error.message.replace(/^\/(?=:)/, '')}`,
  );
}
