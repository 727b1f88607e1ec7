import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress, parseBlock } from '../../src/policy/address.ts';
import { decideAll, decideHost, decideUrl } from '../../src/policy/decide.ts';
import { defaultPolicy, type Policy, parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';
import { specialBlocks } from '../../src/policy/special-blocks.ts';
import { carriersOf, disguised, spellingsOf4, spellingsOf6 } from './spellings.ts';

const self = new SelfRegistry();
const closed = defaultPolicy();
/** As wide as rules can be written. */
const open = parsePolicy({ allow: ['0.0.0.0/0', '::/0', 'loopback', 'private'] });

/** A random address of a random refused block. */
function addressIn(family: 4 | 6): fc.Arbitrary<bigint> {
  const blocks = specialBlocks
    .flatMap(([cidr]) => parseBlock(cidr) ?? [])
    .filter((block) => block.family === family);
  const bits = family === 4 ? 32 : 128;
  return fc
    .tuple(fc.constantFrom(...blocks), fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }))
    .map(([{ base, prefix }, noise]) => base | (noise & ((1n << BigInt(bits - prefix)) - 1n)));
}

const special4 = addressIn(4).map(Number);
const special6 = addressIn(6).map((value) =>
  Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn)),
);
const metadata4 = fc.constantFrom(
  0xa9fea9fe,
  0xa9feaa02,
  0xa9fe0017,
  0x646464c8,
  0xc00000c0,
  0xa83f8110,
  0x64600060,
);
const linkLocal4 = fc.integer({ min: 0xa9fe0000, max: 0xa9feffff });
const ports = fc.constantFrom('', ':80', ':443', ':8080', ':65535');
const schemes = fc.constantFrom('http', 'https', 'ws', 'wss', 'HTTP', 'hTTps');

function verdictOf(url: string, policy: Policy): string {
  return decideUrl(url, policy, { use: 'subresource', self }).verdict;
}

function url(host: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(schemes, host, ports).map(([scheme, name, port]) => `${scheme}://${name}${port}/x?y#z`);
}

describe('no spelling of a refused address is allowed', () => {
  test('IPv4 in a URL', () => {
    fc.assert(
      fc.property(url(special4.chain(spellingsOf4)), (text) => verdictOf(text, closed) === 'deny'),
      { numRuns: 1000 },
    );
  });

  test('IPv6 in a URL', () => {
    const hosts = special6.chain(spellingsOf6).map((text) => `[${text}]`);
    fc.assert(
      fc.property(url(hosts), (text) => verdictOf(text, closed) === 'deny'),
      { numRuns: 1000 },
    );
  });

  test('IPv4 carried by IPv6, in a URL, in a SOCKS host and in a DNS answer', () => {
    const carried = special4.chain((a) => fc.constantFrom(...carriersOf(a)));
    fc.assert(
      fc.property(carried, (text) => {
        expect(verdictOf(`http://[${text}]/`, closed)).toBe('deny');
        expect(decideHost(text, 443, closed, { self }).verdict).toBe('deny');
        expect(decideAll('example.com', [text], 443, closed, { self }).verdict).toBe('deny');
      }),
      { numRuns: 1000 },
    );
  });

  test('localhost', () => {
    const names = fc
      .constantFrom('localhost', 'localhost.', 'a.localhost', 'x.y.localhost.')
      .chain(disguised);
    fc.assert(
      fc.property(url(names), (text) => verdictOf(text, closed) === 'deny'),
      { numRuns: 1000 },
    );
  });
});

describe('no rule lets a metadata service through, in any spelling', () => {
  const addresses = fc.oneof(metadata4, linkLocal4);

  test('as IPv4', () => {
    fc.assert(
      fc.property(url(addresses.chain(spellingsOf4)), (text) => verdictOf(text, open) === 'deny'),
      { numRuns: 1000 },
    );
  });

  test('carried by IPv6', () => {
    const carried = addresses.chain((a) => fc.constantFrom(...carriersOf(a)));
    fc.assert(
      fc.property(carried, (text) => {
        expect(verdictOf(`http://[${text}]/`, open)).toBe('deny');
        expect(decideAll('example.com', [text], 443, open, { self }).verdict).toBe('deny');
      }),
      { numRuns: 1000 },
    );
  });

  test('by name, allowed by name', () => {
    const names = ['metadata.google.internal', 'metadata.goog', 'metadata', 'instance-data.ec2.internal'];
    const policy = parsePolicy({ allow: [...names, ...names.map((name) => `*.${name}`)] });
    const spelled = fc.constantFrom(...names, ...names.map((name) => `a.b.${name}.`)).chain(disguised);
    fc.assert(
      fc.property(url(spelled), (text) => verdictOf(text, policy) === 'deny'),
      { numRuns: 1000 },
    );
  });
});

test('a public address passes in every spelling, so the tests above are not passed by refusing all', () => {
  const hosts = fc.constantFrom(0x08080808, 0x5db8d70e, 0x01010101).chain(spellingsOf4);
  fc.assert(
    fc.property(url(hosts), (text) => verdictOf(text, closed) === 'allow'),
    { numRuns: 500 },
  );
});

test('the open policy does open what is not metadata', () => {
  for (const host of ['127.0.0.1', '10.0.0.1', '[::1]', '[64:ff9b::8.8.8.8]', '[64:ff9b::10.0.0.1]']) {
    expect([host, verdictOf(`http://${host}/`, open)]).toEqual([host, 'allow']);
  }
});

test('all spellings of one IPv4 host are one address', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 0xffff_ffff }).chain((a) => fc.tuple(fc.constant(a), spellingsOf4(a))),
      ([a, text]) => {
        const address = parseAddress(new URL(`http://${text}`).hostname);
        expect(address?.value).toBe(BigInt(a));
      },
    ),
  );
});
