import { Address4, Address6 } from 'ip-address';
import { SPECIAL_PURPOSE as registry4 } from 'ip-address/dist/v4/constants.js';
import { SPECIAL_PURPOSE as registry6 } from 'ip-address/dist/v6/constants.js';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import {
  type Address,
  type Block,
  bitsOf,
  blockText,
  classOf,
  inBlock,
  parseAddress,
  parseBlock,
} from '../../src/policy/address.ts';
import { specialBlocks } from '../../src/policy/special-blocks.ts';

/** We refuse, ip-address calls it global: the registries do too, but no web site lives there. */
const registrySaysGlobal = [
  '192.0.0.9',
  '192.0.0.10',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24', // column left blank
  '192.175.48.0/24',
  '64:ff9b::/96', // by what it carries
  '::ffff:0:0/96', // by what it carries
  '2001:1::1',
  '2001:1::2',
  '2001:1::3',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:20::/28',
  '2001:30::/28',
  '2620:4f:8000::/48',
];

/** We refuse, ipaddr.js has no name for it and says unicast. */
const ipaddrSaysUnicast = ['::/3', '4000::/2', '8000::/1'];

const blocks = blockList();
/** A public address inside each form that libraries judge by what it carries. */
const carriers = ['::ffff:8.8.8.8', '64:ff9b::8.8.8.8'].map((text) =>
  addressAt(6, parseAddress(text)?.value ?? 0n),
);
const addresses = [...edgesOf(blocks), ...carriers];

test('the edges cover every table', () => {
  expect(ipaddrRanges(Reflect.get(ipaddr.IPv4.prototype, 'SpecialRanges')).length).toBeGreaterThan(14);
  expect(ipaddrRanges(Reflect.get(ipaddr.IPv6.prototype, 'SpecialRanges')).length).toBeGreaterThan(20);
  expect(blocks.length).toBeGreaterThan(50);
  expect(addresses.length).toBeGreaterThan(150);
});

describe.each(addresses.map((address) => [address.text, address] as const))('%s', (_, address) => {
  const ours = classOf(address);

  test('what we pass, both libraries pass', () => {
    if (ours !== 'ok') return expect(ours).not.toBe('ok');
    expect([globalByIpAddress(address), rangeByIpaddr(address)]).toEqual([true, 'unicast']);
  });

  test('what only we refuse is on the list of accepted differences', () => {
    if (ours === 'ok') return expect(ours).toBe('ok');
    if (globalByIpAddress(address)) expect(within(address, registrySaysGlobal)).toBe(true);
    if (rangeByIpaddr(address) === 'unicast') expect(within(address, ipaddrSaysUnicast)).toBe(true);
  });
});

test('no accepted difference is stale', () => {
  const differs = (list: readonly string[], says: (one: Address) => boolean) =>
    list.filter(
      (cidr) => !addresses.some((one) => within(one, [cidr]) && classOf(one) !== 'ok' && says(one)),
    );

  expect(differs(registrySaysGlobal, globalByIpAddress)).toEqual([]);
  expect(differs(ipaddrSaysUnicast, (one) => rangeByIpaddr(one) === 'unicast')).toEqual([]);
});

test('every row of the registries is inside a block of ours or is listed as the whole of one', () => {
  const own = specialBlocks.map(([cidr]) => blockOf(cidr));
  const missing = [...registry4, ...registry6]
    .map(([cidr]) => blockOf(cidr))
    .filter(
      (row) =>
        !own.some((block) => block.prefix <= row.prefix && inBlock(addressAt(row.family, row.base), block)),
    );

  expect(missing.map(blockText)).toEqual([]);
});

function blockList(): readonly Block[] {
  const texts = new Set([
    ...specialBlocks.map(([cidr]) => cidr),
    ...[...registry4, ...registry6].map(([cidr]) => cidr),
    ...ipaddrRanges(Reflect.get(ipaddr.IPv4.prototype, 'SpecialRanges')),
    ...ipaddrRanges(Reflect.get(ipaddr.IPv6.prototype, 'SpecialRanges')),
  ]);
  return [...texts].map(blockOf);
}

/** ipaddr.js keeps `[address, length]` pairs at two depths. */
function ipaddrRanges(value: unknown): string[] {
  if (Array.isArray(value) && typeof value[1] === 'number') return [`${String(value[0])}/${value[1]}`];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(ipaddrRanges) : [];
}

/** First, last, one below, one above. */
function edgesOf(list: readonly Block[]): readonly Address[] {
  const found = new Map<string, Address>();
  for (const { family, base, prefix } of list) {
    const last = base + (1n << BigInt(bitsOf(family) - prefix)) - 1n;
    for (const value of [base, last, base - 1n, last + 1n]) {
      if (value < 0n || value >> BigInt(bitsOf(family)) !== 0n) continue;
      const address = addressAt(family, value);
      found.set(address.text, address);
    }
  }
  return [...found.values()];
}

function addressAt(family: 4 | 6, value: bigint): Address {
  const text =
    family === 4 ? Address4.fromBigInt(value).correctForm() : Address6.fromBigInt(value).canonicalForm();
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`not an address: ${text}`);
  return address;
}

function blockOf(cidr: string): Block {
  const block = parseBlock(cidr);
  if (block === undefined) throw new Error(`not a block: ${cidr}`);
  return block;
}

function within(address: Address, cidrs: readonly string[]): boolean {
  return cidrs.some((cidr) =>
    inBlock(address, blockOf(cidr.includes('/') ? cidr : `${cidr}/${cidr.includes(':') ? 128 : 32}`)),
  );
}

function globalByIpAddress({ family, text }: Address): boolean {
  return family === 4 ? new Address4(text).isGlobal() : new Address6(text).isGlobal();
}

function rangeByIpaddr({ text }: Address): string {
  return ipaddr.parse(text).range();
}
