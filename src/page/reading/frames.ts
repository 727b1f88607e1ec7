import { type Static, Type } from 'typebox';
import { frameLabel, tellFrame } from '../find-frame.ts';
import type { Frame } from '../frames.ts';
import { UNTRUSTED } from '../schema.ts';
import type { Tab } from '../tab.ts';

export const FramesInput = Type.Object(
  { tab: Type.Optional(Type.String({ description: 'default: the active tab' })) },
  { additionalProperties: false },
);

export const FramesResult = Type.Object({
  tab: Type.String(),
  frames: Type.Array(
    Type.Object({
      id: Type.String({ description: 'main, or what the refs of the frame begin with: f1' }),
      name: Type.String(UNTRUSTED),
      url: Type.String(UNTRUSTED),
      parent: Type.Optional(Type.String({ description: 'id of the frame around it' })),
      crossOrigin: Type.Boolean({ description: 'of another origin than the page of the tab' }),
      outOfProcess: Type.Boolean({ description: 'in another process than the frame around it' }),
    }),
  ),
});
export type FramesResult = Static<typeof FramesResult>;

/** The frames of a tab, parents before children. Asks the page for nothing: a page that hangs has frames too. */
export function listFrames(tab: Tab): FramesResult {
  const { frames } = tab;
  return {
    tab: tab.id,
    frames: frames.list().map((frame) => {
      const parent = frame.parentId === undefined ? undefined : frames.get(frame.parentId);
      return {
        ...tellFrame(frame),
        url: frame.url || 'about:blank',
        ...(parent && { parent: frameLabel(parent) }),
        crossOrigin: parent !== undefined && originOf(tab, frame) !== originOf(tab, frames.main),
        outOfProcess: parent !== undefined && frame.session !== parent.session,
      };
    }),
  };
}

/** A sandboxed or data: document has an origin of its own, which equals no other. */
function originOf(tab: Tab, frame: Frame): string {
  const { origin, parentId } = frame;
  const parent = parentId === undefined ? undefined : tab.frames.get(parentId);
  // An about: document without scripts tells of no origin; in another process it cannot have that of its parent.
  if (origin === '' && parent && frame.session === parent.session) return originOf(tab, parent);
  return origin === '' || origin === 'null' || origin === '://' ? `opaque ${frame.id}` : origin;
}
