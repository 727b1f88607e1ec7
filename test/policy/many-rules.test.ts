import { describe, expect, test } from 'vitest';
import { decideAll, decideHost, decideUrl } from '../../src/policy/decide.ts';
import { parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const self = new SelfRegistry();
const context = { self, use: 'navigation' } as const;

describe('10 000 rules', () => {
  const names = Array.from({ length: 2500 }, (_, i) => `h${i}.example.com:${1024 + i}`);
  const wild = Array.from({ length: 2500 }, (_, i) => `*.w${i}.example.com`);
  const blocks = Array.from({ length: 2500 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const denied = Array.from({ length: 2500 }, (_, i) => `no.w${i}.example.com`);
  const policy = parsePolicy({ mode: 'allowlist', allow: [...names, ...wild, ...blocks], deny: denied });

  test.each([0, 1, 1234, 2499])('each has its effect (%i)', (i) => {
    const at = (host: string) => decideUrl(`http://${host}/`, policy, context);
    expect(at(`h${i}.example.com:${1024 + i}`)).toMatchObject({ verdict: 'allow', rule: names[i] });
    expect(at(`h${i}.example.com:${1025 + i}`)).toMatchObject({ reason: 'not-allowlisted' });
    expect(at(`a.w${i}.example.com`)).toMatchObject({ verdict: 'allow', rule: wild[i] });
    expect(at(`no.w${i}.example.com`)).toMatchObject({ reason: 'rule', rule: denied[i] });
    expect(at(`10.${i >> 8}.${i & 255}.77`)).toMatchObject({ verdict: 'allow', rule: blocks[i] });
    expect(at('10.200.0.1')).toMatchObject({ reason: 'private' });
  });

  test('all for one host', () => {
    const ports = Array.from({ length: 10_000 }, (_, i) => `example.com:${20_000 + i}`);
    const one = parsePolicy({ mode: 'allowlist', allow: ports });
    expect(decideHost('example.com', 29_999, one, { self })).toMatchObject({ rule: 'example.com:29999' });
    expect(decideHost('example.com', 30_000, one, { self })).toMatchObject({ reason: 'not-allowlisted' });
  });
});

describe('contradictory rules', () => {
  test('deny beats allow, however exact the allow is', () => {
    const policy = parsePolicy({
      allow: ['a.example.com', '10.1.2.3', 'localhost:3000'],
      deny: ['*.example.com', '10.0.0.0/8', 'loopback'],
    });
    const rule = (url: string) => decideUrl(url, policy, context).rule;
    expect(rule('http://a.example.com/')).toBe('*.example.com');
    expect(rule('http://10.1.2.3/')).toBe('10.0.0.0/8');
    expect(rule('http://localhost:3000/')).toBe('loopback');
  });

  test('the same entry in both lists is denied', () => {
    const policy = parsePolicy({ mode: 'allowlist', allow: ['example.com'], deny: ['example.com'] });
    expect(decideUrl('http://example.com/', policy, context)).toMatchObject({
      verdict: 'deny',
      reason: 'rule',
    });
  });

  test('a denied block holds for what names resolve to, and for what IPv6 carries', () => {
    const policy = parsePolicy({ allow: ['::/0', '0.0.0.0/0'], deny: ['93.184.0.0/16'] });
    const answer = (address: string) => decideAll('example.com', [address], 443, policy, { self });
    expect(answer('93.184.215.14')).toMatchObject({
      reason: 'rule',
      rule: '93.184.0.0/16',
      address: '93.184.215.14',
    });
    expect(answer('93.185.0.1')).toMatchObject({ verdict: 'allow' });
    expect(decideHost('::ffff:93.184.215.14', 443, policy, { self })).toMatchObject({ reason: 'rule' });
    expect(decideHost('::ffff:93.185.0.1', 443, policy, { self })).toMatchObject({ verdict: 'allow' });
  });

  test('the most specific allow rule is the one that is named', () => {
    const policy = parsePolicy({
      allow: ['*.example.com', '*.b.example.com', 'a.b.example.com', '10.0.0.0/8', '10.1.2.3'],
    });
    const rule = (host: string) => decideHost(host, 80, policy, { self }).rule;
    expect(rule('a.b.example.com')).toBe('a.b.example.com');
    expect(rule('10.1.2.3')).toBe('10.1.2.3');
    expect(rule('10.1.2.4')).toBe('10.0.0.0/8');
  });

  test('twice the same allow, once with an answer, is both', () => {
    const policy = parsePolicy({ allow: ['nas.lan', { host: 'nas.lan', resolvesTo: ['192.168.0.0/16'] }] });
    expect(decideAll('nas.lan', ['192.168.1.1'], 80, policy, { self }).verdict).toBe('allow');
    expect(decideAll('nas.lan', ['10.0.0.1'], 80, policy, { self })).toMatchObject({ reason: 'private' });
  });
});
