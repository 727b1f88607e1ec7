/**
 * Text as it is printed. White space runs become one space; characters that only steer the display or hide text from a
 * reader (bidi controls, soft hyphens, zero-width spaces, tag characters) go, so that a line shows all that it says.
 * Injected by its text.
 */
export function textRules() {
  const maxText = 2000;
  /** A name longer than this is content that got into a name; the rest is found with `text`. */
  const maxName = 500;
  const plain = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
  const steering =
    /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const spaces = /[\s\u0000-\u001f\u007f-\u009f]+/g;

  /** One line, trimmed. */
  function clean(text: string): string {
    if (text.length < 400 && plain.test(text)) return text;
    return text.replace(steering, '').replace(spaces, ' ').trim().toWellFormed();
  }

  /**
   * Cut text says how much was left out; it never ends inside a surrogate pair.
   * @param missing characters that were left out already
   */
  function cap(text: string, max: number, missing = 0): string {
    if (text.length <= max) return missing === 0 ? text : `${text}… [${missing} more characters]`;
    const end = /[\ud800-\udbff]/.test(text.charAt(max - 1)) ? max - 1 : max;
    return `${text.slice(0, end)}… [${text.length - end + missing} more characters]`;
  }

  /** A name in quotes. */
  function quote(name: string): string {
    const text = cap(name, maxName);
    return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
  }

  /** A value after a colon: as it is where it is one plain line, as a JSON string where it is not. */
  function value(text: string): string {
    const short = cap(text, maxText);
    if (plain.test(short) && !short.startsWith('"')) return short;
    const cleaned = clean(short);
    return cleaned === short && !short.startsWith('"') ? short : JSON.stringify(short.replace(steering, ''));
  }

  /** White space runs become one space; what stands at the ends stays. */
  function collapse(text: string): string {
    return text.replace(steering, '').replace(spaces, ' ');
  }

  /** Line breaks and spaces as they are written. */
  function preserve(text: string): string {
    return text.replace(steering, '').replace(/\r\n?/g, '\n');
  }

  return { cap, clean, collapse, maxText, preserve, quote, value };
}

export type TextRules = ReturnType<typeof textRules>;
