import { installHands } from '../actions/call-hands.ts';
import type { Frame } from '../frames.ts';
import type { Operation } from '../operation.ts';
import { formatRef } from '../refs.ts';
import { claimRefs } from '../resolve-target.ts';
import { isolatedWorld } from '../world.ts';
import type { Leaf } from './tagged.ts';

/** More than this many nodes of one answer get no ref. */
const MAX_REFS = 100;

/** Element (DOM standard, Node.nodeType). */
const ELEMENT = 1;

/** Runs in the isolated world: refs of elements that are in the document, 0 for those that are not. */
const REFS_OF = `function (next, ...nodes) {
  const refs = nodes.map((node) => {
    if (!node.isConnected) return 0;
    const [ref, following] = globalThis.airlock.refOf(node, next);
    next = following;
    return ref;
  });
  return { refs, next };
}`;

/** Gives refs to the elements of an answer, so that the caller can act on what a script found. */
export async function addRefs(
  op: Operation,
  frame: Frame,
  leaves: readonly Leaf[],
  objectGroup: string,
): Promise<void> {
  const ours = leaves.filter(
    ({ node, tag }) => node && node.loaderId === frame.loaderId && tag['nodeType'] === ELEMENT,
  );
  if (ours.length === 0) return;
  const world = await isolatedWorld(op, frame);
  await installHands(op, world);
  const handles = await Promise.all(
    ours.slice(0, MAX_REFS).map(async ({ node }) => {
      const { object } = await op.send(world.session, 'DOM.resolveNode', {
        ...(node && { backendNodeId: node.backendNodeId }),
        executionContextId: world.contextId,
        objectGroup,
      });
      return object.objectId ?? '';
    }),
  );
  const { result } = await op.send(world.session, 'Runtime.callFunctionOn', {
    functionDeclaration: REFS_OF,
    executionContextId: world.contextId,
    arguments: [{ value: op.env.refs.next }, ...handles.map((objectId) => ({ objectId }))],
    returnByValue: true,
  });
  const { refs, next } = readAnswer(result.value);
  claimRefs(op, frame, next);
  for (const [index, ref] of refs.entries()) {
    const leaf = ours[index];
    if (leaf && ref > 0) leaf.tag['ref'] = formatRef(frame.ordinal, ref);
  }
}

/** Our own code answers, in a world that the page cannot reach. */
function readAnswer(value: unknown): { refs: number[]; next: number } {
  if (typeof value === 'object' && value !== null && 'refs' in value && 'next' in value) {
    const { refs, next } = value;
    if (Array.isArray(refs) && typeof next === 'number') return { refs: refs.map(Number), next };
  }
  throw new Error('the isolated world gave no refs');
}
