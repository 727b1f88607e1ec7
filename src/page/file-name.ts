/** The longest name of a file, in bytes of UTF-8: what every file system takes. */
const MAX_BYTES = 255;
/** Room for ` (999)`. */
const NUMBER_BYTES = 6;

/** Separators of every system, control characters, and those that turn the direction of what is shown. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what the rule is about
const FORBIDDEN = /[/\\\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** True for what names one file in a directory, and nothing else. */
export function isFileName(name: string): boolean {
  return (
    name !== '' &&
    name !== '.' &&
    name !== '..' &&
    name.isWellFormed() &&
    Buffer.byteLength(name) <= MAX_BYTES &&
    name.search(FORBIDDEN) === -1
  );
}

/** The nearest name of a file to what somebody else suggests. Not hidden; its ending is kept. */
export function toFileName(suggested: string): string {
  const plain = suggested
    .toWellFormed()
    .replace(FORBIDDEN, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  if (plain === '') return 'download';
  const { stem, ending } = split(plain);
  return cut(stem, MAX_BYTES - NUMBER_BYTES - Buffer.byteLength(ending)) + ending;
}

/** `report.pdf` → `report (1).pdf`. */
export function numbered(name: string, number: number): string {
  if (number === 0) return name;
  const { stem, ending } = split(name);
  const mark = ` (${number})`;
  return cut(stem, MAX_BYTES - Buffer.byteLength(mark + ending)) + mark + ending;
}

function split(name: string): { stem: string; ending: string } {
  const [, stem = name, ending = ''] = /^(.+?)((?:\.tar)?\.[A-Za-z0-9]{1,16})$/.exec(name) ?? [];
  return { stem, ending };
}

/** The first characters that fit, whole ones. */
function cut(text: string, bytes: number): string {
  let [kept, used] = ['', 0];
  for (const character of text) {
    used += Buffer.byteLength(character);
    if (used > bytes) break;
    kept += character;
  }
  return kept;
}
