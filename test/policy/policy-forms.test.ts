import { describe, expect, test } from 'vitest';
import { decideUrl } from '../../src/policy/decide.ts';
import { defaultPolicy, parsePolicy, policyFromFlags, policyToJson } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const self = new SelfRegistry();

/** Does an allowlist of this one entry admit the URL? */
function admits(entry: string, url: string): boolean {
  const policy = parsePolicy({ mode: 'allowlist', allow: [entry] });
  return decideUrl(url, policy, { use: 'subresource', self }).verdict === 'allow';
}

const forms: readonly (readonly [
  entry: string,
  printed: string,
  yes: readonly string[],
  no: readonly string[],
])[] = [
  [
    'example.com',
    'example.com',
    ['http://example.com/', 'https://example.com:8443/', 'wss://example.com/'],
    ['http://a.example.com/', 'http://example.org/'],
  ],
  ['EXAMPLE.com.', 'example.com', ['http://example.com/', 'http://example.com./'], []],
  [
    'bücher.example',
    'xn--bcher-kva.example',
    ['http://xn--bcher-kva.example/', 'http://B\u00dcCHER.example/'],
    [],
  ],
  [
    '*.example.com',
    '*.example.com',
    ['http://a.example.com/', 'http://b.a.example.com/'],
    ['http://example.com/', 'http://aexample.com/', 'http://a.example.com.evil.org/'],
  ],
  [
    'example.com:8080',
    'example.com:8080',
    ['http://example.com:8080/'],
    ['http://example.com/', 'http://example.com:8081/'],
  ],
  [
    'example.com:8000-8010',
    'example.com:8000-8010',
    ['http://example.com:8000/', 'http://example.com:8010/'],
    ['http://example.com:7999/', 'http://example.com:8011/'],
  ],
  [
    'https://example.com',
    'https://example.com:443',
    ['https://example.com/', 'wss://example.com/'],
    ['http://example.com/', 'https://example.com:8443/', 'http://example.com:443/'],
  ],
  ['https://example.com/', 'https://example.com:443', ['https://example.com/x'], ['http://example.com/']],
  [
    'ws://example.com:9000',
    'ws://example.com:9000',
    ['ws://example.com:9000/', 'http://example.com:9000/'],
    ['wss://example.com:9000/'],
  ],
  [
    'localhost',
    'localhost',
    ['http://localhost/', 'http://localhost:3000/'],
    ['http://a.localhost/', 'http://127.0.0.1/'],
  ],
  ['*.localhost', '*.localhost', ['http://a.localhost/'], ['http://localhost/']],
  [
    'loopback',
    'loopback',
    [
      'http://127.0.0.1/',
      'http://127.9.9.9:3000/',
      'http://[::1]/',
      'http://localhost/',
      'http://a.localhost/',
    ],
    ['http://10.0.0.1/', 'http://[::ffff:127.0.0.1]/', 'http://0.0.0.0/'],
  ],
  [
    'loopback:3000',
    'loopback:3000',
    ['http://127.0.0.1:3000/', 'http://localhost:3000/'],
    ['http://localhost:3001/'],
  ],
  [
    'private',
    'private',
    ['http://10.0.0.1/', 'http://172.31.0.1/', 'http://192.168.1.1/', 'http://[fd12::1]/'],
    ['http://127.0.0.1/', 'http://100.64.0.1/', 'http://172.32.0.1/', 'http://[fe80::1]/'],
  ],
  ['10.0.0.0/8:443', '10.0.0.0/8:443', ['https://10.1.2.3/'], ['http://10.1.2.3/', 'https://11.0.0.1/']],
  [
    '127.0.0.1',
    '127.0.0.1',
    ['http://127.0.0.1/', 'http://0x7f.1/', 'http://2130706433/'],
    ['http://127.0.0.2/', 'http://localhost/'],
  ],
  ['0x7f.1:3000', '127.0.0.1:3000', ['http://127.0.0.1:3000/'], []],
  ['::1', '::1', ['http://[::1]/', 'http://[0:0::1]:3000/'], ['http://127.0.0.1/']],
  ['[::1]:3000', '[::1]:3000', ['http://[::1]:3000/'], ['http://[::1]/']],
  ['FD00::/8', 'fd00::/8', ['http://[fd12::1]/'], ['http://[fc12::1]/']],
  ['fd00::/8:443', '[fd00::]/8:443', ['https://[fd12::1]/'], ['http://[fd12::1]/']],
  ['[fd00::]/8:443', '[fd00::]/8:443', ['https://[fd12::1]/'], []],
  ['[fd00::/8]:443', '[fd00::]/8:443', ['https://[fd12::1]/'], []],
  ['https://[fd00::]/8', 'https://[fd00::]/8:443', ['https://[fd12::1]/'], ['http://[fd12::1]/']],
  [
    '::/0',
    '::/0',
    ['http://[fd12::1]/', 'http://[2a00::1]/'],
    ['http://8.8.8.8/', 'http://[::ffff:10.0.0.1]/'],
  ],
  [
    's3.amazonaws.com',
    's3.amazonaws.com',
    ['https://s3.amazonaws.com/bucket'],
    ['https://x.s3.amazonaws.com/'],
  ],
  ['_dmarc.example.com', '_dmarc.example.com', ['http://_dmarc.example.com/'], []],
];

describe.each(forms)('entry %s', (entry, printed, yes, no) => {
  test.each(yes)('admits %s', (url) => {
    expect(admits(entry, url)).toBe(true);
  });

  test.each(no.length === 0 ? ['http://other.example.net/'] : no)('does not admit %s', (url) => {
    expect(admits(entry, url)).toBe(false);
  });

  test('is printed in one form, which reads as itself', () => {
    const { allow } = policyToJson(parsePolicy({ allow: [entry] }));
    expect(allow).toEqual([printed]);
    expect(policyToJson(parsePolicy({ allow })).allow).toEqual([printed]);
  });
});

test('a top-level domain may be denied as a whole', () => {
  const policy = parsePolicy({ deny: ['*.zip'] });
  expect(decideUrl('http://a.zip/', policy, { use: 'navigation', self })).toEqual({
    verdict: 'deny',
    reason: 'rule',
    rule: '*.zip',
  });
});

test('a policy prints as input that means the same', () => {
  const input = {
    mode: 'public',
    allow: [
      'localhost:5173',
      {
        host: 'staging.internal',
        ports: [443, '8000-8010'],
        resolvesTo: ['10.1.0.0/16', '10.2.0.1', 'loopback'],
      },
      { host: 'https://example.com:8443', path: '/a/*', methods: ['GET', 'HEAD'] },
    ],
    deny: ['*.ads.example', { host: 'example.com', path: '/admin/*', methods: ['POST'] }],
    block: ['image', 'font'],
    schemes: ['data'],
    nat64: ['64:ff9b::/96'],
    guard: { url: 'http://127.0.0.1:9000/decide', timeoutMs: 1500 },
  };
  const json = policyToJson(parsePolicy(input));

  expect(json).toEqual(input);
  expect(policyToJson(parsePolicy(JSON.parse(JSON.stringify(json))))).toEqual(input);
});

test('the query of a guard URL is not shown', () => {
  const { guard } = policyToJson(
    parsePolicy({ guard: { url: 'http://127.0.0.1:9000/decide?token=hunter2' } }),
  );
  expect(guard).toEqual({ url: 'http://127.0.0.1:9000/decide', timeoutMs: 2000 });
});

test('the default policy has no rules and prints as itself', () => {
  expect(policyToJson(defaultPolicy())).toEqual({
    mode: 'public',
    allow: [],
    deny: [],
    block: [],
    schemes: [],
  });
});

test('flags add to the file', () => {
  const policy = policyFromFlags({
    file: { mode: 'allowlist', allow: ['a.com'], deny: ['b.com'], block: ['Image'] },
    allow: ['localhost:3000', '{"host":"c.com","path":"/x"}'],
    deny: ['*.d.com'],
  });
  expect(policyToJson(policy)).toEqual({
    mode: 'allowlist',
    allow: ['a.com', 'localhost:3000', { host: 'c.com', path: '/x' }],
    deny: ['b.com', '*.d.com'],
    block: ['image'],
    schemes: [],
  });
});

test('a policy is frozen all the way down', () => {
  const policy = parsePolicy({
    allow: [{ host: 'a.com', ports: [80], resolvesTo: ['10.0.0.0/8'] }],
    guard: { url: 'http://127.0.0.1/' },
  });
  const unfrozen: string[] = [];
  const walk = (value: unknown, at: string) => {
    if (typeof value !== 'object' || value === null) return;
    if (!Object.isFrozen(value)) unfrozen.push(at);
    for (const [key, inner] of Object.entries(value)) walk(inner, `${at}/${key}`);
  };
  walk(policy, '');
  expect(unfrozen).toEqual([]);
});
