/**
 * Path patterns of rules: `*` stands for any run of characters, `/` included; everything else for itself. No regular
 * expressions, so no pattern can be made to backtrack without bound.
 */

/** Does the whole text match? Time is at most pattern × text. */
export function globMatches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    // The star first: a literal `*` in the text must not use it up.
    if (pattern[p] === '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.length && pattern[p] === text[t]) {
      p++;
      t++;
    } else if (star !== -1) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/**
 * How a server may read a path: ASCII escapes decoded once, backslashes as slashes, runs of slashes folded, dot segments
 * resolved. A deny must hold for this reading too, or `/%61dmin/` walks around it.
 */
export function looseReading(path: string): string {
  const decoded = path
    .replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/%[89a-f][0-9a-f]/gi, (octet) => octet.toUpperCase())
    .replace(/[/\\]+/g, '/');
  if (!decoded.includes('/.')) return decoded;
  const kept: string[] = [];
  const segments = decoded.split('/').slice(1);
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  const last = segments.at(-1);
  return `/${kept.join('/')}${(last === '.' || last === '..') && kept.length > 0 ? '/' : ''}`;
}

/** A pattern as a person types it (`/relatório/*`), in the escapes of a URL path. */
export function encodedPattern(pattern: string): string {
  return pattern.replace(/[^!-~]+/g, (run) => encodeURI(run));
}
