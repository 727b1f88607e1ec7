import type { Reason } from './decision.ts';

/** A class of address that is not plain public unicast. */
export type SpecialClass = Extract<
  Reason,
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'cgnat'
  | 'reserved'
  | 'multicast'
  | 'broadcast'
  | 'unspecified'
  | 'v4-mapped'
  | 'v4-compatible'
  | 'nat64'
  | 'siit'
  | '6to4'
  | 'teredo'
  | 'ula'
  | 'site-local'
>;

/** `[CIDR, class, name]`. */
export type SpecialBlock = readonly [cidr: string, cls: SpecialClass, name: string];

/**
 * Every block that is refused by default. The most specific block that holds an address names its class.
 *
 * Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, 8190) and IANA IPv6 Address Space, rows as of
 * August 2026; multicast is its own registry. test/policy/registry-edges.test.ts holds every edge against the tables of two
 * libraries, so a registry that moves on shows there. Blocks that the registries call globally reachable (anycast
 * services, AS112, AMT, ORCHIDv2, drone ids) are refused too: no web site lives there.
 */
export const specialBlocks: readonly SpecialBlock[] = Object.freeze([
  ['0.0.0.0/8', 'unspecified', 'This network'],
  ['10.0.0.0/8', 'private', 'Private-Use'],
  ['100.64.0.0/10', 'cgnat', 'Shared Address Space'],
  ['127.0.0.0/8', 'loopback', 'Loopback'],
  ['169.254.0.0/16', 'link-local', 'Link Local'],
  ['172.16.0.0/12', 'private', 'Private-Use'],
  ['192.0.0.0/24', 'reserved', 'IETF Protocol Assignments'],
  ['192.0.2.0/24', 'reserved', 'Documentation (TEST-NET-1)'],
  ['192.31.196.0/24', 'reserved', 'AS112-v4'],
  ['192.52.193.0/24', 'reserved', 'AMT'],
  ['192.88.99.0/24', 'reserved', 'Deprecated (6to4 Relay Anycast)'],
  ['192.168.0.0/16', 'private', 'Private-Use'],
  ['192.175.48.0/24', 'reserved', 'Direct Delegation AS112 Service'],
  ['198.18.0.0/15', 'reserved', 'Benchmarking'],
  ['198.51.100.0/24', 'reserved', 'Documentation (TEST-NET-2)'],
  ['203.0.113.0/24', 'reserved', 'Documentation (TEST-NET-3)'],
  ['224.0.0.0/4', 'multicast', 'Multicast'],
  ['240.0.0.0/4', 'reserved', 'Reserved'],
  ['255.255.255.255/32', 'broadcast', 'Limited Broadcast'],

  // Only 2000::/3 is allocated as global unicast; these three prefixes are all of the rest.
  ['::/3', 'reserved', 'Outside the global unicast allocation'],
  ['4000::/2', 'reserved', 'Outside the global unicast allocation'],
  ['8000::/1', 'reserved', 'Outside the global unicast allocation'],
  ['::/96', 'v4-compatible', 'IPv4-compatible (RFC 4291, deprecated)'],
  ['::/128', 'unspecified', 'Unspecified Address'],
  ['::1/128', 'loopback', 'Loopback Address'],
  ['::ffff:0:0/96', 'v4-mapped', 'IPv4-mapped Address'],
  ['::ffff:0:0:0/96', 'siit', 'IPv4-translated (RFC 2765)'],
  ['64:ff9b::/96', 'nat64', 'IPv4-IPv6 Translation'],
  ['64:ff9b:1::/48', 'nat64', 'IPv4-IPv6 Translation, local use'],
  ['100::/64', 'reserved', 'Discard-Only Address Block'],
  ['100:0:0:1::/64', 'reserved', 'Dummy IPv6 Prefix'],
  ['2001::/23', 'reserved', 'IETF Protocol Assignments'],
  ['2001::/32', 'teredo', 'TEREDO'],
  ['2001:db8::/32', 'reserved', 'Documentation'],
  ['2002::/16', '6to4', '6to4'],
  ['2620:4f:8000::/48', 'reserved', 'Direct Delegation AS112 Service'],
  ['3fff::/20', 'reserved', 'Documentation'],
  ['5f00::/16', 'reserved', 'Segment Routing (SRv6) SIDs'],
  ['fc00::/7', 'ula', 'Unique-Local'],
  ['fe80::/10', 'link-local', 'Link-Local Unicast'],
  ['fec0::/10', 'site-local', 'Site-Local (RFC 3879, deprecated)'],
  ['ff00::/8', 'multicast', 'Multicast'],
] as const);
