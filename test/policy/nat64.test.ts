import { describe, expect, test } from 'vitest';
import { embeddedIn, parseAddress, parseBlock } from '../../src/policy/address.ts';
import { decideAll, decideHost } from '../../src/policy/decide.ts';
import { narrowPolicy, parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';

const self = new SelfRegistry();

// RFC 6052, section 2.4: 192.0.2.33 behind a prefix of each length.
test.each([
  ['2001:db8::/32', '2001:db8:c000:221::'],
  ['2001:db8:100::/40', '2001:db8:1c0:2:21::'],
  ['2001:db8:122::/48', '2001:db8:122:c000:2:2100::'],
  ['2001:db8:122:300::/56', '2001:db8:122:3c0:0:221::'],
  ['2001:db8:122:344::/64', '2001:db8:122:344:c0:2:2100::'],
  ['2001:db8:122:344::/96', '2001:db8:122:344::192.0.2.33'],
])('the IPv4 behind %s is found in %s', (prefix, text) => {
  const [block, address] = [parseBlock(prefix), parseAddress(text)];
  if (block === undefined || address === undefined) throw new Error('the example is broken');
  expect(embeddedIn(address, [block]).map((inner) => inner.address.text)).toContain('192.0.2.33');
});

describe.each(['64:ff9b::', '2a00:aaaa:bbbb::'])('a network with the prefix %s/96', (prefix) => {
  const policy = parsePolicy({
    nat64: [`${prefix}/96`],
    allow: [{ host: 'nas.lan', resolvesTo: ['10.0.0.0/8'] }],
    deny: ['93.184.0.0/16'],
  });
  const at = (ip: string, host = 'example.com') =>
    decideAll(host, [`${prefix}${ip}`], 443, policy, { self }).verdict;

  test('reaches the public Internet through it', () => {
    expect(at('8.8.8.8')).toBe('allow');
    expect(decideHost(`${prefix}8.8.8.8`, 443, policy, { self }).verdict).toBe('allow');
  });

  test.each(['127.0.0.1', '10.0.0.1', '100.64.0.1', '0.0.0.0', '224.0.0.1'])(
    'does not reach %s through it',
    (ip) => {
      expect(at(ip)).toBe('deny');
    },
  );

  test('metadata is metadata, a denied block is denied, an opened one is open', () => {
    const metadata = decideAll('example.com', [`${prefix}169.254.169.254`], 443, policy, { self });
    expect(metadata.reason).toBe('metadata');
    expect(at('169.254.1.1')).toBe('deny');
    expect(at('93.184.215.14')).toBe('deny');
    expect(at('10.0.0.1', 'nas.lan')).toBe('allow');
  });

  test('the service behind it is still this service', () => {
    const registry = new SelfRegistry();
    registry.add(4444);
    const wide = parsePolicy({ nat64: [`${prefix}/96`], allow: ['0.0.0.0/0', '::/0'] });
    expect(decideHost(`${prefix}127.0.0.1`, 4444, wide, { self: registry }).reason).toBe('self');
  });

  test('a session under the policy has it too', () => {
    const narrowed = narrowPolicy(policy, parsePolicy({ deny: ['example.org'] }));
    expect(decideAll('example.com', [`${prefix}8.8.8.8`], 443, narrowed, { self }).verdict).toBe('allow');
  });
});

test('without the declaration the well-known prefix is refused', () => {
  expect(decideAll('example.com', ['64:ff9b::8.8.8.8'], 443, parsePolicy({}), { self }).reason).toBe('nat64');
});
