import type { AirlockError } from '../../errors.ts';
import type { CdpSession, Protocol } from '../cdp.ts';
import { notInteractable } from '../hindrance.ts';
import type { Operation } from '../operation.ts';
import type { ResolvedTarget } from '../resolve-target.ts';
import { timeBox } from '../time-box.ts';
import { isolatedWorld } from '../world.ts';
import { reserve } from './aim-target.ts';
import { clickTarget } from './click.ts';
import type { Effects } from './effects.ts';
import type { FileField } from './upload.ts';

/** How long a page may take from the click to its file chooser, in milliseconds. */
const CHOOSER_MS = 3000;
/** How long it may take to let choosers open again. */
const UNDO_MS = 500;

/**
 * Clicks what opens a file chooser and gives the file input that the chooser is for, which may be in no document. The chooser
 * itself does not open.
 * @throws AirlockError `not_interactable` when none opens, or when it belongs to no file input; those of `click`
 */
export async function openChooser(
  op: Operation,
  { session, ref }: ResolvedTarget,
  effects: Effects,
): Promise<FileField> {
  const sessions = new Set<CdpSession>([session, op.tab.session]);
  const { promise, resolve } = Promise.withResolvers<Protocol.Page.FileChooserOpenedEvent>();
  for (const one of sessions) one.on('Page.fileChooserOpened', resolve);
  try {
    for (const one of sessions) await op.send(one, 'Page.setInterceptFileChooserDialog', { enabled: true });
    await clickTarget(op, { target: ref }, effects);
    const ms = Math.max(0, Math.min(CHOOSER_MS, op.remainingMs - reserve(op)));
    const opened = await op.race(timeBox(promise, ms));
    if (opened === undefined)
      throw unusable(ref, 'was clicked and opened no file chooser; no file was given to the page');
    return await fieldOf(op, opened, ref);
  } finally {
    for (const one of sessions) {
      one.off('Page.fileChooserOpened', resolve);
      await timeBox(one.send('Page.setInterceptFileChooserDialog', { enabled: false }), UNDO_MS);
    }
  }
}

async function fieldOf(
  op: Operation,
  { frameId, backendNodeId }: Protocol.Page.FileChooserOpenedEvent,
  ref: string,
): Promise<FileField> {
  const frame = op.tab.frames.get(frameId);
  if (backendNodeId === undefined || frame === undefined)
    throw unusable(
      ref,
      'opens a file picker of a script (showOpenFilePicker), which takes no files from here',
    );
  const { session, contextId } = await isolatedWorld(op, frame);
  const { object } = await op.send(session, 'DOM.resolveNode', {
    backendNodeId,
    executionContextId: contextId,
  });
  if (object.objectId !== undefined) return { frame, session, objectId: object.objectId };
  throw unusable(ref, 'opened a file chooser for an input that is gone');
}

function unusable(ref: string, how: string): AirlockError {
  return notInteractable('no-chooser', `${ref} ${how}`, { element: { ref } });
}
