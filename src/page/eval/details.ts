import type { CdpSession, Protocol } from '../cdp.ts';
import type { Operation } from '../operation.ts';
import { readBytes } from './bytes.ts';
import { errorParts } from './error-parts.ts';
import type { Leaf, Step } from './tagged.ts';

type RemoteObject = Protocol.Runtime.RemoteObject;

/** What was sent, and what of it still has to be told. */
export interface Root {
  readonly objectId: string;
  readonly remote: RemoteObject;
}

/** More than this many keep their bare type; each may take a command of its own. */
const MAX_LEAVES = 100;

/** Characters of a function's text. */
const MAX_SOURCE = 1000;

const BOXED = new Set(['Number', 'Boolean', 'BigInt', 'Symbol', 'String']);

/** Runs in the page: the members at the ends of some paths. One that cannot be read (again) is null. */
const PICK = `function (paths) {
  'use strict';
  const root = this;
  const at = (value, step) => {
    if (typeof step !== 'object') return value[step];
    let i = 0;
    for (const entry of value) if (i++ === step.entry) return step.part === undefined ? entry : entry[step.part];
    return null;
  };
  const found = [];
  for (let i = 0; i < paths.length; i++) {
    let value = root;
    try {
      for (let k = 0; k < paths[i].length; k++) value = at(value, paths[i][k]);
    } catch {
      value = null;
    }
    found[i] = value;
  }
  return found;
}`;

/** Adds to the tags of errors, functions, symbols, typed arrays … what Chrome's serialisation leaves out. */
export async function fillIn(
  op: Operation,
  session: CdpSession,
  root: Root,
  leaves: readonly Leaf[],
  maxChars: number,
): Promise<void> {
  const some = leaves.slice(0, MAX_LEAVES);
  if (some.length === 0) return;
  const remotes = await remotesOf(op, session, root, some);
  await Promise.all(
    some.map(async (leaf, index) => {
      const remote = remotes[index];
      if (remote) await fill(op, session, leaf, remote, maxChars);
    }),
  );
}

/** Chrome's handles of the leaves, in their order. */
async function remotesOf(
  op: Operation,
  session: CdpSession,
  { objectId, remote }: Root,
  leaves: readonly Leaf[],
): Promise<(RemoteObject | undefined)[]> {
  if (leaves.every((leaf) => leaf.steps.length === 0)) return leaves.map(() => remote);
  const paths: (readonly Step[])[] = leaves.map((leaf) => leaf.steps);
  const { result } = await op.send(session, 'Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: PICK,
    arguments: [{ value: paths }],
  });
  if (result.objectId === undefined) return [];
  const list = await op.send(session, 'Runtime.getProperties', {
    objectId: result.objectId,
    ownProperties: true,
  });
  const byName = new Map(list.result.map((property) => [property.name, property.value]));
  return leaves.map((_, index) => byName.get(String(index)));
}

async function fill(
  op: Operation,
  session: CdpSession,
  { tag, note }: Leaf,
  remote: RemoteObject,
  maxChars: number,
): Promise<void> {
  const { objectId, className, description = '', subtype } = remote;
  if (remote.type === 'symbol') {
    tag['description'] = description.replace(/^Symbol\(([\s\S]*)\)$/, '$1');
  } else if (remote.type === 'function') {
    tag['source'] = description.slice(0, MAX_SOURCE);
  } else if (subtype === 'error' && objectId !== undefined) {
    Object.assign(tag, { $type: 'error', ...(await errorParts(op, session, remote, objectId)) });
  } else if (subtype === 'typedarray' || subtype === 'arraybuffer') {
    const { cut, ...bytes } = await readBytes(op, session, remote, maxChars);
    Object.assign(tag, bytes);
    if (cut) note({ reason: 'items', total: bytes.length });
  } else if (tag['$type'] !== undefined) {
    tag['class'] = className;
  } else if (BOXED.has(className ?? '') && objectId !== undefined) {
    Object.assign(tag, { $type: 'boxed', class: className, value: await unbox(op, session, objectId) });
  } else if (subtype === 'dataview') {
    Object.assign(tag, { $type: 'dataview', length: lengthIn(description) });
  }
}

/** Chrome's own description has the length: DataView(2). */
function lengthIn(description: string): number {
  return Number(/\((\d+)\)$/.exec(description)?.[1] ?? 0);
}

/** The primitive inside a Number or Boolean object, as text. */
async function unbox(op: Operation, session: CdpSession, objectId: string): Promise<string> {
  const { internalProperties = [] } = await op.send(session, 'Runtime.getProperties', {
    objectId,
    ownProperties: true,
  });
  const inner = internalProperties.find((property) => property.name === '[[PrimitiveValue]]')?.value;
  return inner?.unserializableValue ?? String(inner?.value ?? inner?.description ?? '');
}
