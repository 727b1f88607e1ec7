import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { Protocol } from '../cdp.ts';
import type { Point } from '../hands/types.ts';
import type { Operation } from '../operation.ts';
import { Target } from '../target.ts';
import { tell } from '../target-errors.ts';
import { aimTarget, type Ready, type TargetOptions } from './aim-target.ts';
import { callHands } from './call-hands.ts';
import { type ActionResult, type Effects, withEffects } from './effects.ts';
import { arrival, readyToPress } from './landing.ts';
import { movePointer, pressButton, releaseButton } from './pointer.ts';
import { Position } from './schemas.ts';

export const DragInput = Type.Object(
  {
    from: Target,
    to: Type.Optional(Target),
    by: Type.Optional(
      Type.Object(
        { dx: Type.Number(), dy: Type.Number() },
        {
          additionalProperties: false,
          description: 'In place of `to`: CSS pixels from where the drag begins',
        },
      ),
    ),
    fromPosition: Type.Optional(Position),
    toPosition: Type.Optional(Position),
    steps: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, description: 'Moves between the two places; default 10' }),
    ),
  },
  { additionalProperties: false },
);
export type DragInput = Static<typeof DragInput>;

export interface DragResult extends ActionResult {
  /** `html5`: the element was draggable, its data was dropped; `pointer`: the page followed the pointer. */
  readonly kind?: 'html5' | 'pointer';
}

/** Moves that make a page's, and the browser's, own drag begin (Chrome: more than 3 pixels). */
const NUDGE = 5;

/** Chrome tells of a drag in the answer to the move that began it, or right after. Milliseconds. */
const INTERCEPT_MS = 50;

type Kind = { kind?: 'html5' | 'pointer' };

/**
 * Drags one element to another, or by a distance, with the button held; an HTML5 draggable is dropped with its data.
 * @throws AirlockError those of `aimTarget` for both; `not_verified` when the drop was not accepted
 */
export async function drag(op: Operation, input: DragInput): Promise<DragResult> {
  if ((input.to === undefined) === (input.by === undefined)) {
    throw new AirlockError('invalid_request', 'Give exactly one of to and by');
  }
  return withEffects<Kind>(op, async (effects) => {
    await using drags = await interceptDrags(op);
    const from = await aimTarget(op, input.from, aimOptions(input.fromPosition, '/fromPosition'));
    await readyToPress(op, from);
    effects.begin();
    const pointer = new HeldPointer(op, from.point);
    await pointer.press();
    try {
      await judgePress(op, from, effects);
      const kind = await carry(op, input, pointer, drags, effects);
      await pointer.release();
      return { kind };
    } catch (error) {
      await pointer.release().catch(unreported);
      throw error;
    }
  });
}

function unreported(): void {
  // The drag has ended, well or not; that is what is reported. A session that is gone needs no undoing.
}

function aimOptions(position: Point | undefined, positionPointer: string): TargetOptions {
  const at = position && { position, positionPointer };
  return { enabled: true, editable: false, hit: true, guard: true, ...at };
}

async function judgePress(op: Operation, from: Ready, effects: Effects): Promise<void> {
  const report = await arrival(op, from, effects);
  if (report === 'left' || report.seen.length > 0) return;
  const element = tell(from.frame, from.aimed.described);
  const coveredBy = report.wrong && tell(from.frame, report.wrong);
  throw new AirlockError(
    'covered',
    `${coveredBy?.line ?? 'Something'} got the press instead of ${element.line}`,
    {
      extra: { element, ...(coveredBy && { coveredBy }) },
    },
  );
}

/** Begins the drag, finds the place to drop, and goes there. */
async function carry(
  op: Operation,
  input: DragInput,
  pointer: HeldPointer,
  drags: Drags,
  effects: Effects,
): Promise<'html5' | 'pointer'> {
  const steps = input.steps ?? 10;
  const start = pointer.at;
  await pointer.moveTo({ x: start.x + NUDGE, y: start.y + NUDGE });
  const data = await drags.begun(op);
  const target =
    input.to === undefined
      ? undefined
      : await aimTarget(op, input.to, { ...aimOptions(input.toPosition, '/toPosition'), guard: false });
  const end = target?.point ?? { x: start.x + (input.by?.dx ?? 0), y: start.y + (input.by?.dy ?? 0) };
  if (data) {
    await drop(op, data, path(pointer.at, end, steps), target, effects);
    pointer.at = end;
    return 'html5';
  }
  for (const point of path(pointer.at, end, steps)) await pointer.moveTo(point);
  return 'pointer';
}

/** Points on the way, the last one twice: lists that make room under a pointer do so when it has arrived. */
function path(from: Point, to: Point, steps: number): Point[] {
  const points: Point[] = [];
  for (let step = 1; step <= steps; step++) {
    const part = step / steps;
    points.push({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
  }
  return [...points, to];
}

async function drop(
  op: Operation,
  data: Protocol.Input.DragData,
  points: readonly Point[],
  target: Ready | undefined,
  effects: Effects,
): Promise<void> {
  const send = (type: 'dragEnter' | 'dragOver' | 'drop', { x, y }: Point) =>
    op.main('Input.dispatchDragEvent', { type, x, y, data });
  const frame = target?.frame ?? op.tab.frames.main;
  const number = target?.number ?? 0;
  await callHands(op, frame, 'watchDrop', number);
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return;
  await send('dragEnter', first);
  for (const point of points) await send('dragOver', point);
  await send('drop', last);
  if ((await effects.orLeft(frame, callHands(op, frame, 'dropped', number))) !== false) return;
  const element = target && tell(target.frame, target.aimed.described);
  throw new AirlockError('not_verified', `${element?.line ?? 'The place'} did not accept the drop`, {
    extra: { ...(element && { element }), types: data.items.map(({ mimeType }) => mimeType) },
  });
}

/** The pointer with its left button down. */
class HeldPointer {
  at: Point;
  readonly #op: Operation;

  constructor(op: Operation, at: Point) {
    this.#op = op;
    this.at = at;
  }

  async press(): Promise<void> {
    await movePointer(this.#op, this.at);
    await pressButton(this.#op, this.at, 'left');
  }

  async moveTo(point: Point): Promise<void> {
    this.at = point;
    await movePointer(this.#op, point, 'left');
  }

  async release(): Promise<void> {
    await releaseButton(this.#op, this.at, 'left');
  }
}

interface Drags extends AsyncDisposable {
  /** The data of the HTML5 drag that the page has begun, if it has. */
  begun(op: Operation): Promise<Protocol.Input.DragData | undefined>;
}

/** Has Chrome hand HTML5 drags over in place of running them, which without a screen it does not finish. */
async function interceptDrags(op: Operation): Promise<Drags> {
  const { session } = op.tab;
  const caught = Promise.withResolvers<Protocol.Input.DragData>();
  const onDrag = (event: Protocol.Input.DragInterceptedEvent) => caught.resolve(event.data);
  session.on('Input.dragIntercepted', onDrag);
  await op.main('Input.setInterceptDrags', { enabled: true });
  return {
    begun: (running) => Promise.race([caught.promise, running.pause(INTERCEPT_MS).then(() => undefined)]),
    async [Symbol.asyncDispose]() {
      session.off('Input.dragIntercepted', onDrag);
      // Sent past the operation: it has to be undone when the operation was ended too.
      const off = session.send('Input.setInterceptDrags', { enabled: false }, { timeout: 0 });
      await off.catch(unreported);
    },
  };
}
