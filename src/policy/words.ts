import { type Block, blocksOf } from './address.ts';

const loopback = blocksOf(['127.0.0.0/8', '::1/128']);
const privateUse = blocksOf(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']);

/** The blocks that a word of the rule language stands for: loopback, or RFC 1918 and unique-local. */
export function wordBlocks(word: 'loopback' | 'private'): readonly Block[] {
  return word === 'loopback' ? loopback : privateUse;
}
