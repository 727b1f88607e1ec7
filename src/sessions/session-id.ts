import { randomBytes } from 'node:crypto';

/** RFC 4648 base32 in lower case, without padding. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * 128 random bits in 26 characters, preceded by `<node>-` where the service has a node name, so that a load balancer
 * can route by prefix. Path-safe.
 */
export function newSessionId(node: string | undefined): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of randomBytes(16)) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  if (bits > 0) text += ALPHABET[(held << (5 - bits)) & 31];
  return node === undefined ? text : `${node}-${text}`;
}
