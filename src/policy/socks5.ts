/**
 * The server side of a SOCKS5 handshake (RFC 1928) as a pure function of bytes: bytes in, steps out, no sockets and no
 * clock, so that it can be fuzzed. Only what Chrome speaks is understood: no authentication, and CONNECT.
 *
 * It consumes exactly the bytes of the handshake: what follows the request belongs to the tunnel and is given back.
 */

import { isIP } from 'node:net';

/** Reply codes of RFC 1928 section 6, as the floor uses them. */
export const socksReply = {
  granted: 0,
  failure: 1,
  notAllowed: 2,
  networkUnreachable: 3,
  hostUnreachable: 4,
  refused: 5,
  commandNotSupported: 7,
  addressTypeNotSupported: 8,
} as const;

export type SocksReplyCode = (typeof socksReply)[keyof typeof socksReply];

/** Greeting (2 + 255) and request (4 + 1 + 255 + 2) together; Chrome needs 3 + 7 + name. */
export const handshakeLimitBytes = 512;

export type SocksStep =
  /** More bytes are needed. */
  | { readonly kind: 'more' }
  /** Send these bytes; the handshake goes on (call `next` again). */
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  /** A well-formed CONNECT. `host` is a name in lower case, or an address in its usual text form. */
  | { readonly kind: 'connect'; readonly host: string; readonly port: number; readonly rest: Uint8Array }
  /** Send `bytes` and close. */
  | { readonly kind: 'refuse'; readonly bytes: Uint8Array; readonly why: SocksFault; readonly host?: string }
  /** Close without a word: whoever is there does not speak SOCKS5. */
  | { readonly kind: 'silent'; readonly why: SocksFault };

export type SocksFault =
  | 'not_socks5'
  | 'no_acceptable_method'
  | 'bad_request'
  | 'bad_command'
  | 'bad_address_type'
  | 'bad_name'
  | 'too_long';

const version = 5;
const methodNone = 0;
const commandConnect = 1;
const addressLengths: ReadonlyMap<number, number> = new Map([
  [1, 4],
  [4, 16],
]);
const addressTypeName = 3;

/** The ten bytes of a reply. The bound address is always 0.0.0.0:0: Chrome ignores it, and it is nobody's business. */
export function socksReplyBytes(code: SocksReplyCode): Uint8Array {
  return Uint8Array.of(version, code, 0, 1, 0, 0, 0, 0, 0, 0);
}

/**
 * One handshake. Feed it with `push`, then take steps with `next` until it says `more` or ends. After an ending step
 * (`connect`, `refuse`, `silent`) the object is finished and repeats that step. Never throws.
 */
export class Socks5Handshake {
  #pending: Uint8Array = new Uint8Array(0);
  #consumed = 0;
  #greeted = false;
  #end: SocksStep | undefined;

  /** Adds received bytes. They are copied: the caller may use its buffer again. */
  push(chunk: Uint8Array): void {
    const joined = new Uint8Array(this.#pending.length + chunk.length);
    joined.set(this.#pending);
    joined.set(chunk, this.#pending.length);
    this.#pending = joined;
  }

  /** The next thing to do. */
  next(): SocksStep {
    if (this.#end !== undefined) return this.#end;
    const step = this.#greeted ? this.#request() : this.#greeting();
    if (step.kind !== 'more' && step.kind !== 'send') this.#end = step;
    return step;
  }

  #greeting(): SocksStep {
    const bytes = this.#pending;
    const first = bytes[0];
    if (first === undefined) return { kind: 'more' };
    if (first !== version) return { kind: 'silent', why: 'not_socks5' };
    const count = bytes[1];
    if (count === undefined || bytes.length < 2 + count) return { kind: 'more' };
    if (!bytes.subarray(2, 2 + count).includes(methodNone)) {
      return { kind: 'refuse', bytes: Uint8Array.of(version, 0xff), why: 'no_acceptable_method' };
    }
    this.#take(2 + count);
    this.#greeted = true;
    return { kind: 'send', bytes: Uint8Array.of(version, methodNone) };
  }

  #request(): SocksStep {
    const [ver, command, reserved, type, nameLength] = this.#pending;
    if (ver === undefined) return { kind: 'more' };
    if (ver !== version) return refuse(socksReply.failure, 'bad_request');
    if (command === undefined) return { kind: 'more' };
    if (command !== commandConnect) return refuse(socksReply.commandNotSupported, 'bad_command');
    if (reserved === undefined) return { kind: 'more' };
    if (reserved !== 0) return refuse(socksReply.failure, 'bad_request');
    if (type === undefined) return { kind: 'more' };
    if (type === addressTypeName) {
      if (nameLength === undefined) return { kind: 'more' };
      return this.#target(5, nameLength, parseName);
    }
    const length = addressLengths.get(type);
    if (length === undefined) return refuse(socksReply.addressTypeNotSupported, 'bad_address_type');
    return this.#target(4, length, length === 4 ? formatIPv4 : formatIPv6);
  }

  #target(start: number, length: number, read: (bytes: Uint8Array) => string | undefined): SocksStep {
    const end = start + length;
    if (this.#consumed + end + 2 > handshakeLimitBytes) return refuse(socksReply.failure, 'too_long');
    if (this.#pending.length < end + 2) return { kind: 'more' };
    const raw = this.#pending.subarray(start, end);
    const host = read(raw);
    const port = ((this.#pending[end] ?? 0) << 8) | (this.#pending[end + 1] ?? 0);
    this.#take(end + 2);
    if (host === undefined) {
      const bytes = socksReplyBytes(socksReply.notAllowed);
      return { kind: 'refuse', bytes, why: 'bad_name', host: printable(raw) };
    }
    return { kind: 'connect', host, port, rest: this.#pending };
  }

  #take(count: number): void {
    this.#pending = this.#pending.subarray(count);
    this.#consumed += count;
  }
}

function refuse(code: SocksReplyCode, why: SocksFault): SocksStep {
  return { kind: 'refuse', bytes: socksReplyBytes(code), why };
}

/**
 * A name, or an address in text (Chrome sends addresses this way, IPv6 without brackets). Letters, digits, `-`, `_`,
 * `.` and `:` only: Chrome's TURN path delivers `127.0.0.1%00.test`, and zone ids, white space and URL delimiters have
 * no business in a host. One trailing dot is dropped; labels are at most 63 and the whole 253 (RFC 1035).
 */
function parseName(bytes: Uint8Array): string | undefined {
  const text = String.fromCharCode(...bytes).toLowerCase();
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  if (name.length === 0 || name.length > 253 || !/^[a-z0-9._:-]+$/.test(name)) return undefined;
  if (name.includes(':')) return isIP(text) === 6 ? text : undefined;
  for (const label of name.split('.')) {
    if (label.length === 0 || label.length > 63) return undefined;
  }
  return name;
}

function formatIPv4(bytes: Uint8Array): string {
  return bytes.join('.');
}

/** RFC 5952 text, by the serialiser of the URL standard. */
function formatIPv6(bytes: Uint8Array): string {
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push((((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)).toString(16));
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}

/** For the log: whatever is not printable ASCII as `\xNN`. */
function printable(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const plain = byte > 0x20 && byte < 0x7f && byte !== 0x5c;
    text += plain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}
