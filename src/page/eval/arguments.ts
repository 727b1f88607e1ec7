import { AirlockError } from '../../errors.ts';
import type { Protocol } from '../cdp.ts';
import { frameLabel } from '../find-frame.ts';
import type { Frame } from '../frames.ts';
import type { Operation } from '../operation.ts';
import { parseRef } from '../refs.ts';
import { handleOf, type ResolvedTarget, resolveTarget } from '../resolve-target.ts';
import type { World } from '../world.ts';

/** An argument of a function: a JSON value, or an element of the page. */
export type Argument = { readonly value: unknown } | { readonly element: ResolvedTarget };

/**
 * Tells the elements from the values: `{"ref": "e12"}` is an element, every other value is itself.
 * @throws AirlockError `stale_ref`, `target_not_found`
 */
export function parseArguments(op: Operation, args: readonly unknown[]): Promise<Argument[]> {
  return Promise.all(
    args.map(async (value) => {
      const ref = refOf(value);
      return ref === undefined ? { value } : { element: await resolveTarget(op, { ref }) };
    }),
  );
}

function refOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== 'ref') return undefined;
  const ref: unknown = Reflect.get(value, 'ref');
  return typeof ref === 'string' && parseRef(ref) ? ref : undefined;
}

/** The frame that the elements of the arguments live in; `undefined` where there are none. */
export function frameOfArguments(args: readonly Argument[]): Frame | undefined {
  for (const argument of args) if ('element' in argument) return argument.element.frame;
  return undefined;
}

/**
 * The arguments as handles of the world that the function runs in.
 * @throws AirlockError `invalid_request` for an element of another frame
 */
export function callArguments(
  op: Operation,
  frame: Frame,
  world: World,
  args: readonly Argument[],
  objectGroup: string,
): Promise<Protocol.Runtime.CallArgument[]> {
  return Promise.all(
    args.map(async (argument) => {
      if ('value' in argument) return { value: argument.value };
      const { element } = argument;
      if (element.frame !== frame) {
        throw new AirlockError(
          'invalid_request',
          `${element.ref} is in frame ${frameLabel(element.frame)}; the function runs in ${frameLabel(frame)}`,
          { extra: { pointer: '/args' } },
        );
      }
      const { node } = await op.send(world.session, 'DOM.describeNode', {
        objectId: await handleOf(op, element),
      });
      const { object } = await op.send(world.session, 'DOM.resolveNode', {
        backendNodeId: node.backendNodeId,
        executionContextId: world.contextId,
        objectGroup,
      });
      return object.objectId === undefined ? { value: null } : { objectId: object.objectId };
    }),
  );
}
