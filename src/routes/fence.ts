import { randomBytes } from 'node:crypto';

/** Wraps text of a page so that a reader can tell where it begins and ends, whatever the page wrote. */
export function fence(text: string): string {
  const nonce = randomBytes(12).toString('hex');
  return `<<<BEGIN page content ${nonce}\n${text}\nEND page content ${nonce}>>>\n`;
}
