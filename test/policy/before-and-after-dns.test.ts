import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideAddress, decideAll, decideHost } from '../../src/policy/decide.ts';
import { defaultPolicy, parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const self = new SelfRegistry();
const context = { self };

describe('before DNS', () => {
  const policy = parsePolicy({ allow: ['localhost:3000', 'loopback:4000', 'nas.lan', 'ip6-localhost:3000'] });

  test('a public name is to be resolved, in canonical form', () => {
    expect(decideHost('WWW.Example.com.', 443, policy, context)).toEqual({
      verdict: 'allow',
      reason: 'ok',
      host: 'www.example.com',
      needsResolution: true,
      addresses: [],
    });
  });

  test('a literal is dialled as it is', () => {
    expect(decideHost('2606:4700:4700:0::1111', 443, policy, context)).toMatchObject({
      verdict: 'allow',
      needsResolution: false,
      addresses: ['2606:4700:4700::1111'],
    });
    expect(decideHost('1.1.1', 443, policy, context)).toMatchObject({ addresses: ['1.1.0.1'] });
  });

  test.each([3000, 4000])('localhost is both loopbacks, without DNS (port %i)', (port) => {
    const decision = decideHost('localhost', port, policy, context);
    expect(decision).toMatchObject({
      verdict: 'allow',
      needsResolution: false,
      addresses: ['127.0.0.1', '::1'],
    });
    const all = decideAll('localhost', decision.addresses, port, policy, context);
    expect(all.verdict).toBe('allow');
  });

  test('a denied name is not to be resolved', () => {
    for (const host of [
      'localhost',
      'printer.local',
      'intranet',
      'metadata.goog',
      'ip6-loopback',
      'a..b',
      '',
    ]) {
      expect(decideHost(host, 80, policy, context)).toMatchObject({
        verdict: 'deny',
        needsResolution: false,
        addresses: [],
      });
    }
  });

  test.each([
    'intranet',
    'x.local',
    'x.internal',
    'x.lan',
    'x.home.arpa',
    'x.corp',
    'x.home',
    'x.onion',
    'x.invalid',
    'x.alt',
    'local',
    'home.arpa',
  ])('%s needs a rule of its own', (host) => {
    expect(decideHost(host, 80, defaultPolicy(), context).reason).toBe('special-name');
    expect(decideHost(host, 80, parsePolicy({ allow: [host] }), context)).toMatchObject({
      verdict: 'allow',
      needsResolution: true,
    });
  });

  test.each([
    'x.local.example.com',
    'local.example.com',
    'x.notlocal',
    'x.homearpa.com',
    'arpa.com',
    'lan.com',
  ])('%s does not', (host) => {
    expect(decideHost(host, 80, defaultPolicy(), context)).toMatchObject({
      verdict: 'allow',
      needsResolution: true,
    });
  });

  test('what full Chrome calls by itself needs a rule too', () => {
    expect(decideHost('update.googleapis.com', 443, defaultPolicy(), context)).toMatchObject({
      verdict: 'deny',
      reason: 'rule',
    });
    expect(
      decideHost('update.googleapis.com', 443, parsePolicy({ allow: ['update.googleapis.com'] }), context)
        .verdict,
    ).toBe('allow');
    expect(decideHost('www.googleapis.com', 443, defaultPolicy(), context).verdict).toBe('allow');
  });

  test('in mode allowlist only what is listed is asked for', () => {
    const list = parsePolicy({ mode: 'allowlist', allow: ['*.example.com'] });
    expect(decideHost('secret.attacker.example', 443, list, context)).toMatchObject({
      reason: 'not-allowlisted',
      needsResolution: false,
    });
    expect(decideHost('a.example.com', 443, list, context).needsResolution).toBe(true);
  });
});

describe('after DNS', () => {
  test('a name does not reach what a rule opened for literals', () => {
    const policy = parsePolicy({ allow: ['127.0.0.1:3000', '10.0.0.0/8', 'private', 'loopback'] });
    expect(decideAll('rebind.example.com', ['127.0.0.1'], 3000, policy, context).reason).toBe('loopback');
    expect(decideAll('rebind.example.com', ['10.1.2.3'], 80, policy, context).reason).toBe('private');
    expect(decideHost('10.1.2.3', 80, policy, context).verdict).toBe('allow');
  });

  test('a name that a rule names reaches public addresses and its own', () => {
    const policy = parsePolicy({
      allow: [{ host: 'staging.internal', ports: [443], resolvesTo: ['10.1.0.0/16', 'fd00:1::/32'] }],
    });
    const at = (address: string, port = 443) =>
      decideAll('staging.internal', [address], port, policy, context).reason;
    expect(at('10.1.2.3')).toBe('ok');
    expect(at('fd00:1::5')).toBe('ok');
    expect(at('93.184.215.14')).toBe('ok');
    expect(at('10.2.0.1')).toBe('private');
    expect(at('127.0.0.1')).toBe('loopback');
    expect(at('::ffff:10.1.2.3')).toBe('v4-mapped');
    expect(at('10.1.2.3', 80)).toBe('special-name');
  });

  test('a rule for localhost lets localhost be loopback, and nothing else', () => {
    const policy = parsePolicy({ allow: ['localhost', 'ip6-loopback', 'dev.example.com'] });
    expect(decideAll('localhost', ['::1', '127.0.0.1'], 80, policy, context).reason).toBe('ok');
    expect(decideAll('ip6-loopback', ['::1'], 80, policy, context).reason).toBe('ok');
    expect(decideAll('localhost', ['10.0.0.1'], 80, policy, context).reason).toBe('private');
    expect(decideAll('dev.example.com', ['127.0.0.1'], 80, policy, context).reason).toBe('loopback');
  });

  test('no answer, and an answer that is none, is a failure', () => {
    for (const answers of [
      [],
      ['TIMEOUT'],
      ['fe80::1%lo'],
      [''],
      ['93.184.215.14', 'TIMEOUT'],
      ['127.1'],
      ['10.0.0.0/8'],
      ['example.com'],
    ]) {
      expect(decideAll('example.com', answers, 80, defaultPolicy(), context)).toEqual({
        verdict: 'deny',
        reason: 'dns-failure',
      });
    }
  });

  test('a mixture is rebinding, and names the bad answer', () => {
    expect(decideAll('example.com', ['93.184.215.14', '10.0.0.1'], 80, defaultPolicy(), context)).toEqual({
      verdict: 'deny',
      reason: 'dns-rebinding',
      address: '10.0.0.1',
    });
  });

  test('bad answers alone keep their class, metadata first', () => {
    expect(decideAll('example.com', ['10.0.0.1', '127.0.0.1'], 80, defaultPolicy(), context).reason).toBe(
      'private',
    );
    expect(
      decideAll('example.com', ['10.0.0.1', '169.254.169.254'], 80, defaultPolicy(), context).reason,
    ).toBe('metadata');
  });

  test('the order of the answers does not change the verdict; one bad answer is enough', () => {
    const pool = ['93.184.215.14', '8.8.8.8', '2606:4700:4700::1111', '10.0.0.1', '::1', 'fe80::1', 'x'];
    const lists = fc
      .subarray(pool, { minLength: 1 })
      .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(lists, ([list, shuffled]) => {
        const one = decideAll('example.com', list, 80, defaultPolicy(), context).verdict;
        const bad = list.some((address) => pool.indexOf(address) > 2);
        expect(one).toBe(bad ? 'deny' : 'allow');
        expect(decideAll('example.com', shuffled, 80, defaultPolicy(), context).verdict).toBe(one);
      }),
    );
  });

  test('a name that is denied is denied with any answer', () => {
    expect(decideAddress('printer.local', '8.8.8.8', 80, defaultPolicy(), context).reason).toBe(
      'special-name',
    );
    expect(decideAddress('metadata.goog', '8.8.8.8', 80, defaultPolicy(), context).reason).toBe('metadata');
    expect(decideAddress('example.com', '8.8.8.8', 22, defaultPolicy(), context).reason).toBe('port');
  });
});
