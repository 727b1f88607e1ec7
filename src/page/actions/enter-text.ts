import { type Key, keyOfCharacter, keyStroke, parseChord } from '../keyboard.ts';
import type { Operation } from '../operation.ts';

/** Keys on their way to Chrome at a time; more would only wait there. */
const BATCH = 32;

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const ENTER: Key = parseChord('Enter').key;

/** Inserts text as an input method does: one event, no keys. */
export async function insertText(op: Operation, text: string): Promise<void> {
  await op.main('Input.insertText', { text });
}

export async function pressEnter(op: Operation): Promise<void> {
  await Promise.all(keyStroke(op, ENTER, 0));
}

/**
 * Types text into what has the focus: keys for what a keyboard has, insertion for everything else, whole graphemes
 * (an emoji of several code points is one). A line feed is the Enter key.
 */
export async function enterText(op: Operation, text: string, delayMs: number): Promise<void> {
  let sent: Promise<unknown>[] = [];
  let other = '';
  const flush = async () => {
    await Promise.all(sent);
    sent = [];
    if (other !== '') await insertText(op, other);
    other = '';
  };
  for (const { segment } of graphemes.segment(text)) {
    const typed =
      segment === '\r\n' || segment === '\n' || segment === '\r'
        ? { key: ENTER, bits: 0 }
        : keyOfCharacter(segment);
    // A tab would move the focus; as text it is a character.
    if (typed && segment !== '\t') {
      if (other !== '') await flush();
      sent.push(...keyStroke(op, typed.key, typed.bits));
    } else {
      if (sent.length > 0) await flush();
      other += segment;
    }
    if (delayMs > 0) {
      await flush();
      await op.pause(delayMs);
    } else if (sent.length >= BATCH) await flush();
  }
  await flush();
}
