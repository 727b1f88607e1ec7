import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AirlockError } from '../../src/errors.ts';
import { decideAll, decideHost, decideUrl } from '../../src/policy/decide.ts';
import type { PolicyInput } from '../../src/policy/policy.ts';
import { narrowPolicy, type Policy, parsePolicy, policyToJson } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const self = new SelfRegistry();

const hosts = [
  'a.com',
  'b.a.com',
  'c.b.a.com',
  'b.com',
  'localhost',
  'x.localhost',
  'nas.lan',
  '10.1.2.3',
  '127.0.0.1',
  '8.8.8.8',
  '[::1]',
];
const hostEntries = [
  'a.com',
  '*.a.com',
  'b.a.com',
  'b.com',
  'localhost',
  '*.localhost',
  'nas.lan',
  '10.0.0.0/8',
  '10.1.0.0/16',
  '127.0.0.1',
  'loopback',
  'private',
  '8.8.8.0/24',
  '[::1]',
];
const paths = ['/', '/x', '/x/y', '/z'];

const entry = fc.oneof(
  fc
    .tuple(fc.constantFrom(...hostEntries), fc.constantFrom('', ':80', ':3000', ':1-3000'))
    .map(([host, port]) => `${host}${port}`),
  fc
    .tuple(fc.constantFrom(...hostEntries), fc.constantFrom('/x*', '/z', '/*'))
    .map(([host, path]) => ({ host, path })),
  fc.constantFrom('a.com', 'nas.lan', '*.a.com').map((host) => ({ host, resolvesTo: ['10.0.0.0/8'] })),
  fc.constantFrom('a.com', '*.a.com').map((host) => ({ host, methods: ['POST'] })),
);
const list = fc.array(entry, { maxLength: 4 });
const policyInput: fc.Arbitrary<PolicyInput> = fc.record(
  {
    mode: fc.constantFrom('public' as const, 'allowlist' as const),
    allow: list,
    deny: fc.array(
      entry.filter((one) => typeof one === 'string' || !('resolvesTo' in one)),
      { maxLength: 2 },
    ),
    schemes: fc.constantFrom(['data' as const], []),
  },
  { requiredKeys: [] },
);

const url = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.constantFrom(...hosts),
    fc.constantFrom('', ':3000', ':8080'),
    fc.constantFrom(...paths),
  )
  .map(([scheme, host, port, path]) => `${scheme}://${host}${port}${path}`);
const method = fc.constantFrom('GET', 'POST');
const answers = fc.subarray(['8.8.8.8', '93.184.215.14', '10.1.2.3', '10.9.9.9', '127.0.0.1', '::1'], {
  minLength: 1,
});

const urlAllows = (policy: Policy, text: string, verb: string) =>
  decideUrl(text, policy, { use: 'navigation', self, method: verb }).verdict === 'allow';
const dialAllows = (policy: Policy, host: string, found: readonly string[]) =>
  decideHost(host, 3000, policy, { self }).verdict === 'allow' &&
  decideAll(host, found, 3000, policy, { self }).verdict === 'allow';

describe('whatever the session gives', () => {
  test('a URL that passes the narrowed policy passes the ceiling', () => {
    fc.assert(
      fc.property(policyInput, policyInput, url, method, (outer, inner, text, verb) => {
        const ceiling = parsePolicy(outer);
        const narrowed = narrowPolicy(ceiling, parsePolicy(inner));
        return !urlAllows(narrowed, text, verb) || urlAllows(ceiling, text, verb);
      }),
      { numRuns: 1000 },
    );
  });

  test('a connection that passes the narrowed policy passes the ceiling', () => {
    fc.assert(
      fc.property(
        policyInput,
        policyInput,
        fc.constantFrom(...hosts),
        answers,
        (outer, inner, host, found) => {
          const ceiling = parsePolicy(outer);
          const narrowed = narrowPolicy(ceiling, parsePolicy(inner));
          return !dialAllows(narrowed, host, found) || dialAllows(ceiling, host, found);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('data: documents, blocked types and guards only get stricter', () => {
    fc.assert(
      fc.property(policyInput, policyInput, (outer, inner) => {
        const ceiling = parsePolicy({ ...outer, block: ['image'], guard: { url: 'http://127.0.0.1:9/' } });
        const narrowed = narrowPolicy(ceiling, parsePolicy({ ...inner, block: ['font'] }));
        expect(narrowed.block).toEqual(['image', 'font']);
        expect(narrowed.guards).toEqual(ceiling.guards);
        expect(ceiling.schemes).toEqual(expect.arrayContaining([...narrowed.schemes]));
      }),
    );
  });

  test('narrowing twice is still inside the first narrowing', () => {
    fc.assert(
      fc.property(policyInput, policyInput, policyInput, url, method, (one, two, three, text, verb) => {
        const first = narrowPolicy(parsePolicy(one), parsePolicy(two));
        const second = narrowPolicy(first, parsePolicy(three));
        return !urlAllows(second, text, verb) || urlAllows(first, text, verb);
      }),
      { numRuns: 1000 },
    );
  });
});

test('when both lists are given, what passes is exactly what passes both', () => {
  const given = fc.record({ mode: fc.constantFrom('public' as const, 'allowlist' as const), allow: list });
  fc.assert(
    fc.property(given, given, url, method, (outer, inner, text, verb) => {
      fc.pre(outer.mode === 'public' || inner.mode === 'allowlist');
      const [ceiling, session] = [parsePolicy(outer), parsePolicy(inner)];
      const both = urlAllows(ceiling, text, verb) && urlAllows(session, text, verb);
      return urlAllows(narrowPolicy(ceiling, session), text, verb) === both;
    }),
    { numRuns: 1000 },
  );
});

describe('examples', () => {
  const passes = (outer: PolicyInput, inner: PolicyInput, text: string) =>
    urlAllows(narrowPolicy(parsePolicy(outer), parsePolicy(inner)), text, 'GET');

  test('an empty session policy changes nothing', () => {
    expect(passes({ allow: ['localhost:3000'] }, {}, 'http://localhost:3000/')).toBe(true);
    expect(passes({ mode: 'allowlist', allow: ['a.com'] }, {}, 'http://a.com/')).toBe(true);
    expect(passes({ mode: 'allowlist', allow: ['a.com'] }, {}, 'http://b.com/')).toBe(false);
  });

  test('a session cannot open what the service did not', () => {
    expect(passes({}, { allow: ['localhost:3000'] }, 'http://localhost:3000/')).toBe(false);
    expect(passes({ mode: 'allowlist', allow: ['a.com'] }, { mode: 'public' }, 'http://b.com/')).toBe(false);
    expect(passes({ deny: ['a.com'] }, { allow: ['a.com'] }, 'http://a.com/')).toBe(false);
  });

  test('an empty list opens nothing, an absent one keeps what is open', () => {
    expect(passes({ allow: ['localhost:3000'] }, { allow: [] }, 'http://localhost:3000/')).toBe(false);
    expect(passes({ allow: ['localhost:3000'] }, { deny: ['a.com'] }, 'http://localhost:3000/')).toBe(true);
  });

  test('a list under an allowlist is one, even where the session says public or nothing', () => {
    const ceiling: PolicyInput = { mode: 'allowlist', allow: ['a.com', 'b.com'] };
    expect(passes(ceiling, { allow: ['a.com'] }, 'http://a.com/')).toBe(true);
    expect(passes(ceiling, { allow: ['a.com'] }, 'http://b.com/')).toBe(false);
    expect(passes(ceiling, { mode: 'public', allow: ['a.com'] }, 'http://b.com/')).toBe(false);
  });

  test('mode allowlist without a list means the list of the service', () => {
    const ceiling: PolicyInput = { allow: ['localhost:3000'] };
    expect(passes(ceiling, { mode: 'allowlist' }, 'http://localhost:3000/')).toBe(true);
    expect(passes(ceiling, { mode: 'allowlist' }, 'http://a.com/')).toBe(false);
  });

  test('entries of different width meet in the narrower', () => {
    expect(passes({ allow: ['10.0.0.0/8'] }, { allow: ['10.1.0.0/16'] }, 'http://10.1.2.3/')).toBe(true);
    expect(passes({ allow: ['10.0.0.0/8'] }, { allow: ['10.1.0.0/16'] }, 'http://10.2.2.3/')).toBe(false);
    expect(passes({ allow: ['10.1.0.0/16'] }, { allow: ['private'] }, 'http://10.2.2.3/')).toBe(false);
    expect(
      passes({ allow: ['localhost:1-4000'] }, { allow: ['localhost:3000-9000'] }, 'http://localhost:3500/'),
    ).toBe(true);
    expect(
      passes({ allow: ['localhost:1-4000'] }, { allow: ['localhost:3000-9000'] }, 'http://localhost:2000/'),
    ).toBe(false);
  });

  test('both guards run, and the one of the session is marked as such', () => {
    const guard = (port: number) => ({ guard: { url: `http://127.0.0.1:${port}/g` } });
    const { guards } = narrowPolicy(parsePolicy(guard(1)), parsePolicy(guard(2)));
    expect(guards.map(({ url: at, from }) => [at, from])).toEqual([
      ['http://127.0.0.1:1/g', 'service'],
      ['http://127.0.0.1:2/g', 'session'],
    ]);
  });

  test('what is shown has every layer', () => {
    const narrowed = narrowPolicy(
      parsePolicy({ allow: ['private'] }),
      parsePolicy({ deny: ['b.com'], block: ['font'] }),
    );
    expect(policyToJson(narrowed)).toEqual({
      mode: 'public',
      layers: [
        { mode: 'public', allow: ['private'], deny: [] },
        { mode: 'public', deny: ['b.com'] },
      ],
      block: ['font'],
      schemes: [],
    });
  });

  test('a session cannot declare NAT64 prefixes, which would open addresses', () => {
    const session = parsePolicy({ nat64: ['64:ff9b::/96'] });
    expect(() => narrowPolicy(parsePolicy({}), session)).toThrow(
      expect.objectContaining({ code: 'invalid_policy', extra: { entry: 'nat64', pointer: '/nat64' } }),
    );
  });

  test('narrowing for ever is refused', () => {
    const again = () => {
      let policy = parsePolicy({});
      for (let i = 0; i < 100; i++) policy = narrowPolicy(policy, parsePolicy({ deny: [`h${i}.com`] }));
    };
    expect(again).toThrow(AirlockError);
  });
});
