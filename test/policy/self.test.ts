import { hostname, networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { decideAll, decideHost, decideUrl } from '../../src/policy/decide.ts';
import { parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';
import { carriersOf } from './spellings.ts';

const own = 41_234;

function registry(): SelfRegistry {
  const self = new SelfRegistry();
  self.add(own);
  return self;
}

const interfaces = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .map(({ address }) => address.replace(/%.*/, ''));

describe('our own port is refused', () => {
  const wide = parsePolicy({
    allow: [
      '0.0.0.0/0',
      '::/0',
      'loopback',
      'private',
      'localhost',
      '*.localhost',
      { host: 'dev.example.com', resolvesTo: ['loopback', 'private', '0.0.0.0/0', '::/0'] },
    ],
  });
  const self = registry();
  const literals = [
    '127.0.0.1',
    '127.9.8.7',
    '0.0.0.0',
    '::1',
    '::',
    ...carriersOf(0x7f000001),
    ...interfaces,
  ];

  test.each(literals)('at %s, though everything is allowed', (host) => {
    const refusal = { verdict: 'deny', reason: expect.stringMatching(/^(self|link-local)$/) };
    expect(decideHost(host, own, wide, { self })).toMatchObject(refusal);
    expect(decideAll('dev.example.com', [host], own, wide, { self })).toMatchObject(refusal);
  });

  test.each(['localhost', 'LOCALHOST.', 'a.localhost'])('at %s', (host) => {
    expect(decideHost(host, own, wide, { self })).toMatchObject({ reason: 'self', needsResolution: false });
  });

  test('in a URL, in any spelling', () => {
    for (const host of ['2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '\u2460\u2461\u2466.0.0.1']) {
      expect(decideUrl(`http://${host}:${own}/`, wide, { self, use: 'navigation' })).toMatchObject({
        reason: 'self',
      });
    }
  });

  test('one own answer among others', () => {
    expect(decideAll('dev.example.com', ['8.8.8.8', '127.0.0.1'], own, wide, { self })).toMatchObject({
      reason: 'dns-rebinding',
    });
  });

  test('and other ports, and other machines, are not', () => {
    expect(decideHost('127.0.0.1', own + 1, wide, { self }).verdict).toBe('allow');
    expect(decideHost('8.8.8.8', own, wide, { self }).verdict).toBe('allow');
    expect(decideHost('dev.example.com', own, wide, { self }).verdict).toBe('allow');
  });
});

describe('the registry', () => {
  test('follows ports as they come and go, also for an answer that was given before', () => {
    const policy = parsePolicy({ allow: ['loopback'] });
    const self = new SelfRegistry();
    const ask = () => decideHost('127.0.0.1', own, policy, { self }).reason;
    expect(ask()).toBe('ok');
    self.add(own);
    expect(ask()).toBe('self');
    self.remove(own);
    expect(ask()).toBe('ok');
  });

  test('counts', () => {
    const self = registry();
    self.add(own);
    self.remove(own);
    expect(self.isSelf('127.0.0.1', own)).toBe(true);
    self.remove(own);
    self.remove(own);
    expect(self.isSelf('127.0.0.1', own)).toBe(false);
    self.add(own);
    expect(self.isSelf('127.0.0.1', own)).toBe(true);
  });

  test('knows the name of this machine', () => {
    expect(registry().isSelf(hostname(), own)).toBe(true);
  });

  test('takes a host that cannot be read for its own', () => {
    expect(registry().isSelf('exa mple', own)).toBe(true);
    expect(registry().isSelf('exa mple', own + 1)).toBe(false);
  });
});
