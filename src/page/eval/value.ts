import { AirlockError } from '../../errors.ts';
import type { CdpSession, Protocol } from '../cdp.ts';
import type { Frame } from '../frames.ts';
import type { Operation } from '../operation.ts';
import { BOUNDED } from './bounded.ts';
import { fillIn } from './details.ts';
import { addRefs } from './elements.ts';
import type { EvalResult } from './schema.ts';
import { type Deep, Tagger } from './tagged.ts';

type RemoteObject = Protocol.Runtime.RemoteObject;

/** Where a value comes from. */
export interface Origin {
  readonly frame: Frame;
  readonly session: CdpSession;
  /** Handles that are made on the way go here. */
  readonly objectGroup: string;
  /** Of the markers that stand for what was cut; random. */
  readonly key: string;
}

export interface Limits {
  readonly maxDepth: number;
  readonly maxItems: number;
  readonly maxChars: number;
}

/** All members of one answer together, whatever the caller asks for: some 10 MB on the pipe. */
const MAX_NODES = 100_000;

/**
 * The bounds are kept in the page; this is Chrome's own, in its count, where a cut copy has two levels for one. It cannot
 * send more: each level nests the message four deep, and 300 is the most (Chromium `crdtp/cbor.cc`).
 */
const CHROME_DEPTH = 70;

/** Renders a value of the page as JSON with tags. Primitives need no further command. */
export async function describe(
  op: Operation,
  { frame, session, objectGroup, key }: Origin,
  remote: RemoteObject,
  limits: Limits,
): Promise<EvalResult> {
  const primitive = describePrimitive(remote, limits);
  if (primitive) return primitive;
  const { objectId } = remote;
  if (objectId === undefined) throw new Error(`Chrome gave no handle for a ${remote.type}`);
  const deep = await serialise(op, session, objectId, key, limits);
  const { value, type, cuts, leaves } = new Tagger(key, MAX_NODES).run(deep);
  const others = leaves.filter((leaf) => leaf.node === undefined);
  await fillIn(op, session, { objectId, remote }, others, limits.maxChars);
  await addRefs(op, frame, leaves, objectGroup);
  return {
    value,
    type: typeTold(value) ?? type,
    ...(cuts.length > 0 && { truncated: true as const, cut: cuts }),
  };
}

function describePrimitive(remote: RemoteObject, limits: Limits): EvalResult | undefined {
  const { type, value } = remote;
  switch (type) {
    case 'string':
      return describeString(String(value), limits);
    case 'boolean':
      return { value, type };
    case 'number':
      if (remote.unserializableValue === undefined) return { value, type };
      return { value: { $type: type, value: remote.unserializableValue }, type };
    case 'bigint':
      return { value: { $type: type, value: remote.unserializableValue?.replace(/n$/, '') }, type };
    case 'undefined':
      return { value: { $type: type }, type };
    case 'object':
      return remote.subtype === 'null' ? { value: null, type: 'null' } : undefined;
    default:
      return undefined;
  }
}

function describeString(text: string, { maxChars }: Limits): EvalResult {
  if (text.length <= maxChars) return { value: text, type: 'string' };
  const lastCode = text.charCodeAt(maxChars - 1);
  // Never between the halves of a surrogate pair.
  const end = lastCode >= 0xd800 && lastCode <= 0xdbff ? maxChars - 1 : maxChars;
  return {
    value: text.slice(0, end),
    type: 'string',
    truncated: true,
    cut: [{ path: '', reason: 'chars', total: text.length }],
  };
}

async function serialise(
  op: Operation,
  session: CdpSession,
  objectId: string,
  key: string,
  limits: Limits,
): Promise<Deep> {
  try {
    return await serialiseOnce(op, session, objectId, [key, limits, false]);
  } catch (error) {
    if (!(error instanceof Error) || !/exception during deep serialization/.test(error.message)) throw error;
    // A getter that threw for Chrome and not for us: a copy has none.
    return serialiseOnce(op, session, objectId, [key, limits, true]);
  }
}

async function serialiseOnce(
  op: Operation,
  session: CdpSession,
  objectId: string,
  [key, { maxDepth, maxItems, maxChars }, copy]: [string, Limits, boolean],
): Promise<Deep> {
  const answer = await op.send(session, 'Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: BOUNDED,
    arguments: [key, maxItems, maxChars, maxDepth, MAX_NODES, copy].map((value) => ({ value })),
    serializationOptions: { serialization: 'deep', maxDepth: CHROME_DEPTH },
  });
  if (!answer.exceptionDetails) return answer.result.deepSerializedValue ?? { type: answer.result.type };
  const why = answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text;
  throw new AirlockError('evaluation_error', `The value cannot be read: ${why.slice(0, 500)}`, {
    extra: { exception: null },
  });
}

/** A tag may have learned more than Chrome's serialisation said: a DOMException is an error. */
function typeTold(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('$type' in value)) return undefined;
  return typeof value.$type === 'string' ? value.$type : undefined;
}
