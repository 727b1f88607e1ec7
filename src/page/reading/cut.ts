/** How far a cut looks for the end of what a person sees as one character: flags and families are some ten units long. */
const LOOK = 64;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Where a part of a text ends that begins at `from` and is to have at most `maxChars` characters (UTF-16 units): never inside
 * what a person sees as one character, so that a part which begins with a long one is longer, and never inside a surrogate
 * pair. The part always has something in it.
 */
export function cutAt(text: string, from: number, maxChars: number): number {
  const wanted = from + Math.max(1, maxChars);
  if (wanted >= text.length) return text.length;
  const start = Math.max(from, wholeAt(text, wanted - LOOK));
  let last = from;
  for (const { index } of graphemes.segment(text.slice(start, wanted + LOOK))) {
    if (start + index > wanted) return last > from ? last : start + index;
    last = start + index;
  }
  if (last > from) return last;
  // One that does not end: marks that are heaped up without limit.
  const whole = wholeAt(text, wanted);
  return whole > from ? whole : wanted + 1;
}

/** The index, or the one before it where it stands inside a surrogate pair. */
function wholeAt(text: string, index: number): number {
  const inside = /[\udc00-\udfff]/.test(text.charAt(index)) && /[\ud800-\udbff]/.test(text.charAt(index - 1));
  return inside ? index - 1 : index;
}
