import { whileReplaced } from '../actions/call-hands.ts';
import type { Frame } from '../frames.ts';
import { injectedSource } from '../injected/bundle.ts';
import type { Operation } from '../operation.ts';
import { openClosedRoots } from '../resolve-target.ts';
import { CLOSED_ROOT_PASSES } from '../snapshot/closed-roots.ts';
import { evaluateValue, isolatedWorld, type World } from '../world.ts';
import type { Reader } from './injected/api.ts';
import { readerSource } from './source.ts';

type Answer<K extends keyof Reader> = ReturnType<Reader[K]>;

/**
 * Calls the code of `reading/injected` in the isolated world of a frame, after the world was given the closed shadow roots
 * that there are. Again if the document is replaced meanwhile.
 * @throws AirlockError `frame_not_found` when the frame went away; what `Operation.send` throws
 */
export function callReader<K extends keyof Reader>(
  op: Operation,
  frame: Frame,
  name: K,
  ...args: Parameters<Reader[K]>
): Promise<Answer<K>> {
  return whileReplaced(op, frame, async () => {
    const world = await isolatedWorld(op, frame);
    await install(op, world);
    for (let pass = 1; pass <= CLOSED_ROOT_PASSES; pass++) {
      if ((await openClosedRoots(op, frame)) === 0) break;
    }
    // As JSON text: in a literal, a member named __proto__ is no member.
    const call = `globalThis.airlockReader.${name}(...JSON.parse(${JSON.stringify(JSON.stringify(args))}))`;
    // The other side of the line is our own code, of the same type.
    return (await evaluateValue(op, world, call)) as Answer<K>;
  });
}

async function install(op: Operation, world: World): Promise<void> {
  const known = await evaluateValue(op, world, 'globalThis.airlockReader !== undefined');
  if (known !== true) await evaluateValue(op, world, `${injectedSource()};\n${readerSource()};\n0`);
}
