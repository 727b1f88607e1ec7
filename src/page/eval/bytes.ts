import type { CdpSession, Protocol } from '../cdp.ts';
import type { Operation } from '../operation.ts';

export interface Bytes {
  /** Uint8Array, Float64Array, …, ArrayBuffer. */
  readonly class: string;
  /** Of elements; of an ArrayBuffer of bytes. */
  readonly length: number;
  /** The bytes, little-endian. */
  readonly base64: string;
  /** Only the first elements are there. */
  readonly cut: boolean;
}

/**
 * Runs in the page, on a typed array or an ArrayBuffer: its elements as text. Indexes and the joining of primitives
 * are out of the page's reach; the view of an ArrayBuffer is the page's own constructor.
 */
const ELEMENTS = `function (count, isBuffer) {
  'use strict';
  const view = isBuffer ? new Uint8Array(this) : this;
  let text = '';
  for (let i = 0; i < count; i++) {
    const value = view[i];
    text += (value === 0 && 1 / value < 0 ? '-0' : value) + ',';
  }
  return text;
}`;

type Encoder = (elements: readonly string[]) => ArrayBuffer;

const number = (make: new (elements: number[]) => { readonly buffer: ArrayBuffer }): Encoder => {
  return (elements) => new make(elements.map(Number)).buffer;
};
const big = (make: new (elements: bigint[]) => { readonly buffer: ArrayBuffer }): Encoder => {
  return (elements) => new make(elements.map(BigInt)).buffer;
};

const ENCODERS: Readonly<Record<string, { readonly size: number; readonly encode: Encoder }>> = {
  ArrayBuffer: { size: 1, encode: number(Uint8Array) },
  Int8Array: { size: 1, encode: number(Int8Array) },
  Uint8Array: { size: 1, encode: number(Uint8Array) },
  Uint8ClampedArray: { size: 1, encode: number(Uint8ClampedArray) },
  Int16Array: { size: 2, encode: number(Int16Array) },
  Uint16Array: { size: 2, encode: number(Uint16Array) },
  Int32Array: { size: 4, encode: number(Int32Array) },
  Uint32Array: { size: 4, encode: number(Uint32Array) },
  Float32Array: { size: 4, encode: number(Float32Array) },
  Float64Array: { size: 8, encode: number(Float64Array) },
  BigInt64Array: { size: 8, encode: big(BigInt64Array) },
  BigUint64Array: { size: 8, encode: big(BigUint64Array) },
};

/** The content of a typed array or ArrayBuffer, at most `maxChars` characters of base64. */
export async function readBytes(
  op: Operation,
  session: CdpSession,
  remote: Protocol.Runtime.RemoteObject,
  maxChars: number,
): Promise<Bytes> {
  const { objectId, className = '', description = '' } = remote;
  // Chrome's own description has the length: Uint8Array(2), ArrayBuffer(2).
  const length = Number(/\((\d+)\)$/.exec(description)?.[1] ?? 0);
  const encoder = ENCODERS[className];
  if (!encoder || objectId === undefined) return { class: className, length, base64: '', cut: length > 0 };
  const count = Math.min(length, Math.floor((maxChars * 3) / 4 / encoder.size));
  const { result, exceptionDetails } = await op.send(session, 'Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: ELEMENTS,
    arguments: [{ value: count }, { value: className === 'ArrayBuffer' }],
    returnByValue: true,
  });
  const elements = exceptionDetails ? [] : String(result.value).split(',').slice(0, count);
  const base64 = Buffer.from(encoder.encode(elements)).toString('base64');
  return { class: className, length, base64, cut: elements.length < length };
}
