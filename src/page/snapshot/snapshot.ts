import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import { findFrame } from '../find-frame.ts';
import type { Frame } from '../frames.ts';
import type { WalkOptions } from '../injected/types.ts';
import type { Operation } from '../operation.ts';
import { parseRef } from '../refs.ts';
import { frameOfRef } from '../resolve-target.ts';
import { assembleSnapshot, continueSnapshot, type SnapshotAnswer } from './answer.ts';
import { takeSnapshot } from './take.ts';

/** Characters of one answer (api.md: "Limits on output"). */
export const DEFAULT_MAX_CHARS = 20_000;

export const SnapshotInput = Type.Object(
  {
    interactive: Type.Optional(Type.Boolean({ description: 'only what can be acted on, and its ancestors' })),
    depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'levels below the root' })),
    selector: Type.Optional(Type.String({ description: 'only the subtree of this element (CSS)' })),
    ref: Type.Optional(Type.String({ description: 'only the subtree of this element' })),
    frame: Type.Optional(Type.String({ description: 'begin with this frame: f1, its name or its URL' })),
    viewport: Type.Optional(Type.Boolean({ description: 'only what is inside the viewport' })),
    urls: Type.Optional(Type.Boolean({ description: 'print where links lead' })),
    boxes: Type.Optional(Type.Boolean({ description: 'print boxes in CSS pixels' })),
    maxChars: Type.Optional(
      Type.Integer({ minimum: 200, maximum: 10_000_000, description: `default ${DEFAULT_MAX_CHARS}` }),
    ),
    cursor: Type.Optional(Type.String({ description: 'go on where an earlier answer was cut' })),
    since: Type.Optional(Type.String({ description: 'only what changed since this snapshot: s7' })),
  },
  { additionalProperties: false },
);
export type SnapshotInput = Static<typeof SnapshotInput>;

/** The shape of a snapshot that was taken without options. */
export const WHOLE_PAGE = shapeOf({});

/** Names what shaped a snapshot; only snapshots of one shape can be compared. */
function shapeOf(input: SnapshotInput): string {
  const { maxChars: _, cursor: __, since: ___, ...shaping } = input;
  return JSON.stringify(shaping);
}

/**
 * The page as text with refs, over all its frames.
 * @throws AirlockError `invalid_request` (cursor or since of no kept snapshot), `invalid_target`, `target_not_found`,
 * `stale_ref`, `frame_not_found`
 */
export async function snapshot(op: Operation, input: SnapshotInput): Promise<SnapshotAnswer> {
  const {
    maxChars = DEFAULT_MAX_CHARS,
    cursor,
    since,
    selector: _selector,
    ref: _ref,
    frame: _frame,
    ...walk
  } = input;
  const store = op.env.snapshots;
  if (cursor !== undefined) return continueSnapshot(cursor, maxChars, store);
  const place = await placeOf(op, input);
  const walked = await takeSnapshot(op, place.frame, {
    ...walk,
    maxChars,
    ...(place.root && { root: place.root }),
  });
  return assembleSnapshot(
    walked,
    {
      tab: op.tab.id,
      maxChars,
      shape: shapeOf(input),
      ...(since !== undefined && { since }),
    },
    store,
  );
}

interface Place {
  readonly frame: Frame;
  readonly root?: NonNullable<WalkOptions['root']>;
}

async function placeOf(op: Operation, { selector, ref, frame }: SnapshotInput): Promise<Place> {
  if (selector !== undefined && ref !== undefined) {
    throw new AirlockError('invalid_request', '/ref: selector and ref exclude each other', {
      extra: { pointer: '/ref' },
    });
  }
  if (ref === undefined) {
    const found = frame === undefined ? op.tab.frames.main : findFrame(op, frame);
    return selector === undefined ? { frame: found } : { frame: found, root: { selector } };
  }
  const parsed = parseRef(ref);
  if (!parsed)
    throw new AirlockError('invalid_target', `${JSON.stringify(ref)} is not a ref such as e12 or f1e3`);
  return { frame: await frameOfRef(op, parsed), root: { ref: parsed.number } };
}
