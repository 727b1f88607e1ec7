import { isIPv4, isIPv6 } from 'node:net';
import { Address4, Address6 } from 'ip-address';
import { Memo } from './memo.ts';
import { type SpecialClass, specialBlocks } from './special-blocks.ts';

/** An IP address. `text` is canonical: dotted quad, or RFC 5952 as WHATWG URLs print it (mapped forms in hex). */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly text: string;
}

/** A CIDR block; `base` has no host bits. */
export interface Block {
  readonly family: 4 | 6;
  readonly base: bigint;
  readonly prefix: number;
  /** How many host bits, and the bits before them: what a comparison needs. */
  readonly shift: bigint;
  readonly key: bigint;
}

export type AddressClass = 'ok' | SpecialClass;

const low32 = 0xffff_ffffn;

/**
 * Reads one address, strictly: dotted quad without leading zeros, or IPv6 without brackets, zone or prefix length.
 * `undefined` for anything else. Loose forms (octal, `127.1`) are the canonicaliser's to resolve first.
 */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return v4(valueOf4(text));
  // net.isIPv6 accepts zone ids ("fe80::1%lo"); they name another host on every machine.
  if (text.includes('%') || !isIPv6(text)) return undefined;
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  return { family: 6, value: valueOf6(canonical), text: canonical };
}

/** Reads `address/length`; `undefined` when it is not a CIDR block or has bits set behind the prefix. */
export function parseBlock(text: string): Block | undefined {
  const parts = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const address = parts?.[1] === undefined ? undefined : parseAddress(parts[1]);
  if (address === undefined || parts?.[2] === undefined) return undefined;
  const prefix = Number(parts[2]);
  if (prefix > bitsOf(address.family) || !/^(0|[1-9]\d*)$/.test(parts[2])) return undefined;
  const block = blockAround(address, prefix);
  return block.base === address.value ? block : undefined;
}

/** The block of this length that holds the address. */
export function blockAround(address: Address, prefix: number): Block {
  const shift = BigInt(bitsOf(address.family) - prefix);
  const key = address.value >> shift;
  return Object.freeze({ family: address.family, base: key << shift, prefix, shift, key });
}

/** Is the address in the block? An IPv4 address is never in an IPv6 block, nor the other way round. */
export function inBlock(address: Address, block: Block): boolean {
  return address.family === block.family && address.value >> block.shift === block.key;
}

/** `10.0.0.0/8`; a block of one address prints as the address. */
export function blockText(block: Block): string {
  const text = block.family === 4 ? v4(block.base).text : v6(block.base).text;
  return block.prefix === bitsOf(block.family) ? text : `${text}/${block.prefix}`;
}

export function bitsOf(family: 4 | 6): 32 | 128 {
  return family === 4 ? 32 : 128;
}

/** The blocks of a constant table. A row that is not a block is a fault of the table. */
export function blocksOf(cidrs: readonly string[]): readonly Block[] {
  return cidrs.map((cidr) => {
    const block = parseBlock(cidr);
    if (block === undefined) throw new RangeError(`not a CIDR block: ${cidr}`);
    return block;
  });
}

const table = blocksOf(specialBlocks.map(([cidr]) => cidr))
  .map((block, row) => ({ block, cls: specialBlocks[row]?.[1] ?? 'reserved' }))
  .sort((a, b) => b.block.prefix - a.block.prefix);

/** Both judges take tens of microseconds, and a page asks about the same few addresses. */
const classes = new Memo<AddressClass>(1024, 64);

/**
 * The class of an address, `ok` for public unicast only. Two judges must agree on `ok`: our own table, and
 * `isGlobal()` of ip-address, which follows the same registries on its own.
 */
export function classOf(address: Address): AddressClass {
  const known = classes.get(address.text);
  if (known !== undefined) return known;
  const cls = table.find(({ block }) => inBlock(address, block))?.cls ?? classByLibrary(address);
  classes.set(address.text, cls);
  return cls;
}

function classByLibrary({ family, text }: Address): AddressClass {
  const address = family === 4 ? new Address4(text) : new Address6(text);
  return address.isGlobal() ? 'ok' : 'reserved';
}

/** IPv4 that an IPv6 address carries. `guess`: only one of several layouts, so good for refusing, not for judging. */
export interface Embedded {
  readonly address: Address;
  readonly guess: boolean;
}

const low32Forms = blocksOf(['::ffff:0:0/96', '::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48']);
const [nat64Local, sixToFour, teredo] = blocksOf(['64:ff9b:1::/48', '2002::/16', '2001::/32']);
const unspecifiedOrLoopback6 = 1n;

/**
 * Every IPv4 address that a translator, tunnel or stack would take out of this address: mapped and compatible
 * (RFC 4291), SIIT (RFC 2765), NAT64 well-known (RFC 6052) and local (RFC 8215), 6to4 (RFC 3056), Teredo server and client
 * (RFC 4380), ISATAP in any prefix (RFC 5214).
 *
 * @param nat64 the network's own NAT64 prefixes, each of a length that RFC 6052 knows
 */
export function embeddedIn(address: Address, nat64: readonly Block[] = []): readonly Embedded[] {
  if (address.family === 4) return [];
  const { value } = address;
  const found: Embedded[] = [];
  const add = (bits: bigint, guess = false) => found.push({ address: v4(bits & low32), guess });
  if (value > unspecifiedOrLoopback6 && low32Forms.some((block) => inBlock(address, block))) add(value);
  if (nat64Local && inBlock(address, nat64Local))
    for (const prefix of [48, 56, 64]) add(rfc6052(value, prefix), true);
  for (const block of nat64) if (inBlock(address, block)) add(rfc6052(value, block.prefix));
  if (sixToFour && inBlock(address, sixToFour)) add(value >> 80n);
  if (teredo && inBlock(address, teredo)) {
    add(value >> 64n);
    add(~value);
  }
  // ::5efe:a.b.c.d with the universal bit set or not.
  if (((value >> 32n) & 0xfdff_ffffn) === 0x5efen) add(value);
  return found;
}

/** The lengths that a NAT64 prefix can have (RFC 6052, 2.2). */
export const nat64Lengths: readonly number[] = Object.freeze([32, 40, 48, 56, 64, 96]);

/** The IPv4 behind a NAT64 prefix: the 32 bits after it, bits 64 to 71 left out (RFC 6052, 2.2). */
function rfc6052(value: bigint, prefix: number): bigint {
  if (prefix === 96) return value;
  const high = value >> 64n;
  const without = (high << 56n) | (value & 0xff_ffff_ffff_ffffn);
  return without >> BigInt(120 - prefix - 32);
}

function v4(value: bigint): Address {
  const n = Number(value);
  return { family: 4, value, text: `${n >>> 24}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}` };
}

function v6(value: bigint): Address {
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
  );
  return { family: 6, value, text: new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1) };
}

function valueOf4(text: string): bigint {
  return BigInt(text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0));
}

/** Of canonical text only: hex groups, at most one `::`. */
function valueOf6(text: string): bigint {
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}
