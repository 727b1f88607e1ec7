import { AirlockError } from '../../errors.ts';
import type { CdpSession } from '../cdp.ts';
import type { Frame } from '../frames.ts';
import type { Point } from '../hands/types.ts';
import { type Hindrance, notInteractable } from '../hindrance.ts';
import type { Operation } from '../operation.ts';
import { claimRefs } from '../resolve-target.ts';
import { tell } from '../target-errors.ts';
import { isolatedWorld } from '../world.ts';
import { installHands, readHands } from './call-hands.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The iframe element of a frame, in its parent's document. */
interface Owner {
  readonly parent: Frame;
  readonly session: CdpSession;
  readonly ref: number;
  readonly backendNodeId: number;
}

/** A frame's content box: the images of its viewport's corners (0,0), (1,0) and (0,1), in the local root's viewport. */
interface Box {
  readonly origin: Point;
  readonly right: Point;
  readonly down: Point;
}

interface Level {
  readonly owner: Owner;
  readonly child: Frame;
  box: Box;
}

/** The owner of a frame stays the same for as long as both documents do. */
const known = new WeakMap<Frame, Owner & { readonly loaderId: string }>();

/**
 * Brings a point of a frame into view in every document above it, and gives it in the viewport of the tab. Each level
 * is hit-tested, so that a cover in a parent is found; rotated and scaled frames are mapped by the engine's own quads.
 * @param point CSS pixels in the frame's viewport
 * @throws AirlockError `covered` (with what covers the frame), `not_interactable` (the frame moves or has no box)
 */
export async function toTabPoint(op: Operation, frame: Frame, point: Point, view: Size): Promise<Point> {
  const levels: Level[] = [];
  let at: Point = { x: point.x / view.width, y: point.y / view.height };
  const sizes = new Map<Frame, Size>([[frame, view]]);
  for (let child = frame; child.parentId !== undefined; ) {
    const owner = await ownerOf(op, child);
    const answer = await readHands(op, owner.parent, 'bringOwner', owner.ref, at);
    if (answer.moving) throw unusable(child, 'moving', 'is moving');
    at = { x: answer.point.x / answer.view.width, y: answer.point.y / answer.view.height };
    sizes.set(owner.parent, answer.view);
    levels.push({ owner, child, box: { origin: at, right: at, down: at } });
    child = owner.parent;
  }
  for (const level of levels) level.box = await boxOf(op, level);
  return walkUp(op, levels, sizes, point, view);
}

/** From the frame outwards, one local root after the other, testing each document on the way. */
async function walkUp(
  op: Operation,
  levels: readonly Level[],
  sizes: ReadonlyMap<Frame, Size>,
  point: Point,
  view: Size,
): Promise<Point> {
  // The first box maps into the viewport of its local root; inner boxes of the same root are only tested against.
  let inRoot = point;
  let root: CdpSession | undefined;
  for (const [index, level] of levels.entries()) {
    if (level.child.session !== level.owner.session || index === 0) {
      const size = index === 0 ? view : (sizes.get(level.child) ?? view);
      inRoot = place(level.box, { x: inRoot.x / size.width, y: inRoot.y / size.height });
      root = level.owner.session;
    }
    const above = levels[index + 1];
    const nested = above !== undefined && above.owner.session === root && level.owner.parent.session === root;
    const size = sizes.get(level.owner.parent);
    const local = nested && size ? scale(unplace(above.box, inRoot), size) : inRoot;
    await testLevel(op, level, local);
  }
  return inRoot;
}

async function testLevel(op: Operation, { owner, child }: Level, point: Point): Promise<void> {
  const hit = await readHands(op, owner.parent, 'hitOwner', owner.ref, point);
  if (hit.ok) return;
  if (!hit.by) throw unusable(child, 'outside', 'cannot be scrolled into view');
  const coveredBy = tell(owner.parent, hit.by);
  throw new AirlockError('covered', `${coveredBy.line} covers the frame ${child.url}`, {
    extra: { coveredBy },
  });
}

async function ownerOf(op: Operation, frame: Frame): Promise<Owner> {
  const parent = frame.parentId === undefined ? undefined : op.tab.frames.get(frame.parentId);
  if (!parent?.session) throw new AirlockError('frame_not_found', `The frame ${frame.url} is gone`);
  const cached = known.get(frame);
  if (cached && cached.loaderId === parent.loaderId && cached.session === parent.session) return cached;
  const { session, loaderId } = parent;
  const [{ backendNodeId }, world] = await Promise.all([
    op.send(session, 'DOM.getFrameOwner', { frameId: frame.id }),
    isolatedWorld(op, parent),
  ]);
  await installHands(op, world);
  const { object } = await op.send(session, 'DOM.resolveNode', {
    backendNodeId,
    executionContextId: world.contextId,
  });
  const answer = await op.send(session, 'Runtime.callFunctionOn', {
    functionDeclaration: 'function (next) { return globalThis.airlock.refOf(this, next); }',
    objectId: object.objectId ?? '',
    arguments: [{ value: op.env.refs.next }],
    returnByValue: true,
  });
  const [ref, next]: [number, number] = answer.result.value;
  claimRefs(op, parent, next);
  const owner = { parent, session, ref, backendNodeId, loaderId };
  known.set(frame, owner);
  return owner;
}

async function boxOf(op: Operation, { owner, child }: Level): Promise<Box> {
  const { backendNodeId } = owner;
  const answer = op.send(owner.session, 'DOM.getBoxModel', { backendNodeId });
  const { model } = await answer.catch((error: unknown) => {
    // Chrome refuses an element that is not laid out.
    if (error instanceof AirlockError) throw error;
    throw unusable(child, 'unlaid', 'has no box');
  });
  const [x0, y0, x1, y1, , , x3, y3] = model.content;
  if (x0 === undefined || y0 === undefined || x1 === undefined || y1 === undefined)
    throw unusable(child, 'unlaid', 'has no box');
  if (x3 === undefined || y3 === undefined) throw unusable(child, 'unlaid', 'has no box');
  return {
    origin: { x: x0, y: y0 },
    right: { x: x1 - x0, y: y1 - y0 },
    down: { x: x3 - x0, y: y3 - y0 },
  };
}

/** Parts of the box to a point. */
function place({ origin, right, down }: Box, part: Point): Point {
  return {
    x: origin.x + part.x * right.x + part.y * down.x,
    y: origin.y + part.x * right.y + part.y * down.y,
  };
}

/** A point to parts of the box. */
function unplace({ origin, right, down }: Box, { x, y }: Point): Point {
  const determinant = right.x * down.y - right.y * down.x || 1;
  const dx = x - origin.x;
  const dy = y - origin.y;
  return { x: (dx * down.y - dy * down.x) / determinant, y: (dy * right.x - dx * right.y) / determinant };
}

function scale(part: Point, size: Size): Point {
  return { x: part.x * size.width, y: part.y * size.height };
}

function unusable(frame: Frame, state: Hindrance, how: string): AirlockError {
  return notInteractable(state, `The frame ${frame.url} ${how}`);
}
