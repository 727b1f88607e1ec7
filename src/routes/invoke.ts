import { type TObject, Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { Session } from '../sessions/session.ts';
import type { AnyOperation, ServiceContext } from './define.ts';

/** What every page operation takes besides its own input (api.md, Conventions). */
export const PageInput = {
  tab: Type.Optional(Type.String({ pattern: '^t[1-9][0-9]{0,8}$', description: 'default: the active tab' })),
  timeoutMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 300_000,
      description: 'milliseconds until the operation is given up',
    }),
  ),
};

/** The input as it comes over HTTP: with the members that all operations of the scope share. */
export function fullInput(operation: AnyOperation): TObject {
  const own = operation.input.properties;
  const shared = operation.scope === 'page' ? PageInput : {};
  const fenced = operation.text ? { fence: Type.Optional(Type.Boolean(FENCE)) } : {};
  return Type.Object({ ...shared, ...own, ...fenced }, { additionalProperties: false });
}

const FENCE = { description: 'wrap the text of the page in a begin/end pair that it cannot forge' };

/**
 * Runs one operation in the way of its scope: at once, beside the lane, or in the lane under its deadline.
 * @param session undefined for operations that are about no session
 * @param input checked against `fullInput` already
 */
export async function runOperation(
  context: ServiceContext,
  operation: AnyOperation,
  session: Session | undefined,
  input: Record<string, unknown>,
): Promise<unknown> {
  const { fence: _, ...asked } = input;
  if (operation.scope === 'service') return operation.run(context, asked);
  if (!session) throw new AirlockError('internal', `${operation.name} needs a session`);
  if (operation.scope === 'observer') {
    session.touch();
    return operation.run({ ...context, session }, asked);
  }
  const { tab, timeoutMs, ...own } = asked;
  return session.run(
    {
      tab: typeof tab === 'string' ? tab : undefined,
      timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : operation.timeoutMs,
      client: context.request.signal,
    },
    (op) => operation.run({ ...context, session, op }, own),
  );
}
