import fc from 'fast-check';

/** Every way that a URL can spell an IPv4 host, by the WHATWG parser; `a` is 32 bits. */
export function spellingsOf4(a: number): fc.Arbitrary<string> {
  const octets = [a >>> 24, (a >>> 16) & 255, (a >>> 8) & 255, a & 255];
  const parts = fc.constantFrom(
    octets,
    [octets[0] ?? 0, octets[1] ?? 0, a & 0xffff],
    [octets[0] ?? 0, a & 0xff_ffff],
    [a],
  );
  return fc
    .tuple(parts, fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }), fc.boolean())
    .map(
      ([numbers, bases, dot]) =>
        `${numbers.map((n, i) => inBase(n, bases[i] ?? 10)).join('.')}${dot ? '.' : ''}`,
    )
    .chain(disguised);
}

/** The same text in characters that IDNA maps back, or in percent escapes. */
export function disguised(text: string): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom('plain', 'plain', 'plain', 'wide', 'escape', 'upper', 'soft'), {
      minLength: text.length,
      maxLength: text.length,
    })
    .map((styles) => [...text].map((char, i) => disguise(char, styles[i] ?? 'plain')).join(''));
}

function disguise(char: string, style: string): string {
  const code = char.charCodeAt(0);
  if (style === 'wide') return String.fromCharCode(code + 0xfee0);
  if (style === 'escape') return `%${code.toString(16).padStart(2, '0')}`;
  if (style === 'upper') return char.toUpperCase();
  return style === 'soft' ? `\u00ad${char}` : char;
}

function inBase(value: number, base: number): string {
  if (base === 16) return `0x${value.toString(16)}`;
  return base === 8 ? `0${value.toString(8)}` : String(value);
}

/** IPv6 addresses that lead to, or carry, this IPv4 address. */
export function carriersOf(a: number): readonly string[] {
  const high = (a >>> 16).toString(16);
  const low = (a & 0xffff).toString(16);
  const not = (~a >>> 0).toString(16).padStart(8, '0');
  return [
    `::ffff:${high}:${low}`,
    `::${high}:${low}`,
    `::ffff:0:${high}:${low}`,
    `64:ff9b::${high}:${low}`,
    `64:ff9b:1::${high}:${low}`,
    `2002:${high}:${low}::1`,
    `2001:0:${high}:${low}::ffff:ffff`,
    `2001:0:808:808:0:0:${not.slice(0, 4)}:${not.slice(4)}`,
    `2a00:1450:4001:830:0:5efe:${high}:${low}`,
    `2a00:1450:4001:830:200:5efe:${high}:${low}`,
  ];
}

/** IPv6 text with and without `::`, in either case, with leading zeros, with a dotted tail. */
export function spellingsOf6(groups: readonly number[]): fc.Arbitrary<string> {
  return fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()).map(([pad, upper, dotted]) => {
    const words = groups.map((group) => group.toString(16).padStart(pad ? 4 : 1, '0'));
    const [g6 = 0, g7 = 0] = groups.slice(6);
    const tail = `${g6 >> 8}.${g6 & 255}.${g7 >> 8}.${g7 & 255}`;
    const text = dotted ? [...words.slice(0, 6), tail].join(':') : words.join(':');
    return upper ? text.toUpperCase() : text;
  });
}
