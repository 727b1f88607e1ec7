import { AirlockError } from '../errors.ts';
import type { Protocol } from './cdp.ts';
import type { Frame } from './frames.ts';
import { notInteractable } from './hindrance.ts';
import type { Operation } from './operation.ts';
import { handleOf, resolveTarget } from './resolve-target.ts';
import type { Target } from './target.ts';

/** An area in CSS pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Where an element is in the document of the tab, after bringing it into view: an element of a frame or of a scrolled
 * box is only painted there.
 * @throws AirlockError what `resolveTarget` throws, `not_interactable` for an element that has no box
 */
export async function elementArea(op: Operation, target: Target): Promise<Area> {
  const element = await resolveTarget(op, target);
  const { frame, session, ref } = element;
  const objectId = await handleOf(op, element);
  let quad: Protocol.DOM.Quad;
  try {
    await op.send(session, 'DOM.scrollIntoViewIfNeeded', { objectId });
    quad = (await op.send(session, 'DOM.getBoxModel', { objectId })).model.border;
  } catch (error) {
    if (error instanceof AirlockError) throw error;
    throw hasNoBox(ref);
  }
  const area = bounds(quad);
  if (area.width === 0 || area.height === 0) throw hasNoBox(ref);
  const inTab = await throughFrames(op, frame, area);
  const { cssVisualViewport: view } = await op.main('Page.getLayoutMetrics');
  return { ...inTab, x: inTab.x + view.pageX, y: inTab.y + view.pageY };
}

function hasNoBox(ref: string): AirlockError {
  return notInteractable('hidden', `${ref} is not rendered: it has no box to take an image of`, { ref });
}

/** Chrome gives a box in the viewport of the process's outermost frame; adds where that one is in the next. */
async function throughFrames(op: Operation, from: Frame, area: Area): Promise<Area> {
  let { x, y } = area;
  for (let frame = from; frame.parentId !== undefined; ) {
    const parent = op.tab.frames.get(frame.parentId);
    if (!parent?.session) {
      throw new AirlockError('frame_not_found', `The frame ${frame.url} is being replaced`, {
        retryable: true,
      });
    }
    if (parent.session !== frame.session) {
      const { backendNodeId } = await op.send(parent.session, 'DOM.getFrameOwner', { frameId: frame.id });
      await op.send(parent.session, 'DOM.scrollIntoViewIfNeeded', { backendNodeId });
      const { model } = await op.send(parent.session, 'DOM.getBoxModel', { backendNodeId });
      const owner = bounds(model.content);
      x += owner.x;
      y += owner.y;
    }
    frame = parent;
  }
  return { ...area, x, y };
}

/** The upright box around a quad: x and y of four corners in turn. */
function bounds(quad: Protocol.DOM.Quad): Area {
  const xs = quad.filter((_, index) => index % 2 === 0);
  const ys = quad.filter((_, index) => index % 2 === 1);
  const x = Math.min(...xs);
  const y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}
