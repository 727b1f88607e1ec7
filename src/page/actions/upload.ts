import { type Static, Type } from 'typebox';
import { AirlockError } from '../../errors.ts';
import type { CdpSession } from '../cdp.ts';
import type { Frame } from '../frames.ts';
import { notInteractable } from '../hindrance.ts';
import type { Operation } from '../operation.ts';
import { handleOf, openClosedRoots, type ResolvedTarget, resolveTarget } from '../resolve-target.ts';
import { Target } from '../target.ts';
import { callOn, evaluateHandle, isolatedWorld } from '../world.ts';
import { reserve } from './aim-target.ts';
import { openChooser } from './chooser.ts';
import { type ActionResult, type Effects, withEffects } from './effects.ts';
import { findUploadFiles, type UploadFile, type Uploads } from './upload-files.ts';
import { CONTROL, EMPTY, FILES_OF, NEW_FIELD, READ_BACK, STATE, WATCH } from './upload-scripts.ts';

export const UploadInput = Type.Object(
  {
    target: Target,
    files: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: 100,
        description: 'names of files of the session; [] takes the choice back',
      }),
    ),
  },
  { additionalProperties: false },
);
export type UploadInput = Static<typeof UploadInput>;

export interface UploadedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** MIME type as the page sees it, '' for an unknown one. */
  readonly type: string;
}

export interface UploadResult extends ActionResult {
  readonly files?: readonly UploadedFile[];
}

/** A file input, by a handle in the isolated world of its frame. It need not be in the document. */
export interface FileField {
  readonly frame: Frame;
  readonly session: CdpSession;
  readonly objectId: string;
}

interface FieldState {
  multiple: boolean;
  directory: boolean;
  disabled: boolean;
  accept: string;
}

/** A target that does not exist yet may still come, as for other actions. Milliseconds. */
const GRACE_MS = 1000;

/**
 * Gives files to a file input, hidden or not, or to the chooser that a click on the target opens. What the input holds then
 * is read back: names and sizes.
 * @param stored files that came with the request, after those that `files` names
 * @throws AirlockError `artifact_not_found` (nothing was touched), `invalid_request` (no files, or more or others than the
 * input takes), `not_interactable` (disabled, or a click on it opens no chooser), `not_verified`; those of `resolveTarget`
 */
export async function upload(
  op: Operation,
  input: UploadInput,
  stored: Uploads = { files: [], given: false },
): Promise<UploadResult> {
  if (input.files === undefined && stored.files.length === 0) {
    throw invalid('/files', 'name files of the session, or send them as multipart/form-data');
  }
  const files = [...(await findUploadFiles(op.env.filesDir, input.files ?? [])), ...stored.files];
  return withEffects<{ files?: UploadedFile[] }>(op, async (effects) => {
    const element = await findElement(op, input.target);
    const tried = await tryFiles(op, element.frame, files);
    const own = await ownField(op, element);
    const field = own ?? (await openChooser(op, element, effects));
    await checkField(op, field, element.ref, tried);
    stored.given = true;
    return give(op, field, files, tried, effects);
  });
}

async function findElement(op: Operation, target: Target): Promise<ResolvedTarget> {
  const until = Date.now() + Math.min(GRACE_MS, op.remainingMs - reserve(op));
  for (;;) {
    try {
      return await resolveTarget(op, target);
    } catch (error) {
      const missing = error instanceof AirlockError && error.code === 'target_not_found';
      if (!missing || Date.now() >= until) throw error;
      await op.pause(50);
    }
  }
}

/** The file input that the target is, is the label of, or alone holds, as a zone to drop files on does. */
async function ownField(op: Operation, element: ResolvedTarget): Promise<FileField | undefined> {
  const { frame, session } = element;
  const objectId = await handleOf(op, element);
  const look = () => op.send(session, 'Runtime.callFunctionOn', { objectId, functionDeclaration: CONTROL });
  let { result } = await look();
  // It may be in a closed root that the frame's world has not been given.
  if (result.objectId === undefined && (await openClosedRoots(op, frame)) > 0) ({ result } = await look());
  return result.objectId === undefined ? undefined : { frame, session, objectId: result.objectId };
}

/**
 * Gives the files to an input of our own first, which is in no document: whether Chrome can read them, and what types it
 * takes them for, is known before the page notices anything.
 */
async function tryFiles(op: Operation, frame: Frame, files: readonly UploadFile[]): Promise<UploadedFile[]> {
  if (files.length === 0) return [];
  const world = await isolatedWorld(op, frame);
  const { objectId } = await evaluateHandle(op, world, NEW_FIELD);
  if (objectId === undefined) throw new AirlockError('internal', 'No file input could be made');
  await op.send(world.session, 'DOM.setFileInputFiles', { objectId, files: files.map(({ path }) => path) });
  const tried = asFiles(await callOn(op, world.session, objectId, FILES_OF));
  if (same(tried, files)) return tried;
  throw new AirlockError('artifact_not_found', 'A file went away or changed meanwhile; nothing was touched', {
    extra: { expected: told(files), actual: tried },
  });
}

async function checkField(
  op: Operation,
  { session, objectId }: FileField,
  ref: string,
  files: readonly UploadedFile[],
): Promise<void> {
  const state = asState(await callOn(op, session, objectId, STATE));
  const extra = { element: { ref }, accept: state.accept, multiple: state.multiple };
  if (state.disabled) {
    throw notInteractable('disabled', `The file input of ${ref} is disabled`, extra);
  }
  if (state.directory && files.length > 0) throw invalid('/files', 'the input takes a directory', extra);
  if (files.length > 1 && !state.multiple)
    throw invalid('/files', `the input takes one file, not ${files.length}`, extra);
  const refused = files.find((file) => !accepts(state.accept, file));
  if (refused) {
    const detail = `the input accepts ${state.accept}, not ${refused.name} (${refused.type || 'of no known type'})`;
    throw invalid('/files', detail, extra);
  }
}

/** `accept` of HTML (4.10.5.1.17): extensions, MIME types, and audio, video or image of any kind. */
export function accepts(accept: string, file: Pick<UploadedFile, 'name' | 'type'>): boolean {
  const tokens = accept
    .split(',')
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '');
  if (tokens.length === 0) return true;
  const name = file.name.toLowerCase();
  const type = file.type.toLowerCase();
  return tokens.some((token) => {
    if (token.startsWith('.')) return name.endsWith(token);
    if (token === '*/*' || token === '*') return true;
    return token.endsWith('/*') ? type.startsWith(token.slice(0, -1)) : type === token;
  });
}

async function give(
  op: Operation,
  { frame, session, objectId }: FileField,
  files: readonly UploadFile[],
  tried: readonly UploadedFile[],
  effects: Effects,
): Promise<{ files?: UploadedFile[] }> {
  await callOn(op, session, objectId, WATCH);
  effects.begin();
  if (files.length === 0) await callOn(op, session, objectId, EMPTY);
  else await op.send(session, 'DOM.setFileInputFiles', { objectId, files: files.map(({ path }) => path) });
  const read = await effects.orLeft(frame, callOn(op, session, objectId, READ_BACK));
  // The page took the files and went on: what it was given is what was tried.
  if (read === 'left') return { files: [...tried] };
  const { seen, now } = asReadBack(read);
  // Many pages empty the input as soon as they have taken the files out of it.
  const held = [now, seen].find((list) => list !== undefined && same(list, files));
  if (held) return { files: held };
  throw new AirlockError('not_verified', 'The input does not hold the files that it was given', {
    extra: { expected: told(files), actual: now ?? [] },
  });
}

function same(actual: readonly UploadedFile[], files: readonly UploadFile[]): boolean {
  return (
    actual.length === files.length &&
    actual.every(({ name, size }, index) => name === files[index]?.name && size === files[index]?.size)
  );
}

function told(files: readonly UploadFile[]): { name: string; size: number }[] {
  return files.map(({ name, size }) => ({ name, size }));
}

function invalid(pointer: string, detail: string, extra: Record<string, unknown> = {}): AirlockError {
  return new AirlockError('invalid_request', `${pointer}: ${detail}`, { extra: { pointer, ...extra } });
}

// The other side of these is our own code, in upload-scripts.ts.
function asFiles(value: unknown): UploadedFile[] {
  return value as UploadedFile[];
}

function asState(value: unknown): FieldState {
  return value as FieldState;
}

function asReadBack(value: unknown): { seen?: UploadedFile[]; now?: UploadedFile[] } {
  return value as { seen?: UploadedFile[]; now?: UploadedFile[] };
}
