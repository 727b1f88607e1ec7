/**
 * Path patterns of rules: `*` stands for any run of characters, `/` included; everything else for itself. No regular
 * expressions, so no pattern can be made to backtrack without bound.
 */

/** Longer paths are not matched at all: that is work without bound, on the word of a page. In characters. */
const maxPath = 8192;

/** Does the whole text match? */
export function globMatches(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return head === text;
  if (!text.startsWith(head)) return false;
  // The leftmost place of each piece leaves the most room for the next.
  let at = head.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - tail.length >= at && text.endsWith(tail);
}

/** The path in normal form: equal paths by RFC 3986 (6.2.2), and no others, become equal texts. */
export function normalReading(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (octet) => {
    const char = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(char) ? char : octet.toUpperCase();
  });
}

/**
 * The path as the most generous server may read it: every ASCII escape decoded, backslashes as slashes, runs of slashes
 * folded, dot segments resolved. A deny must hold for this reading too, or `/x/..%2fadmin/` walks around it.
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

/**
 * Does the pattern match some reading of the path, which is what a deny asks, and does it match every one, which is what
 * an allow asks? A path that is too long to match is taken for the worse of the two.
 */
export function pathMatches(
  pattern: string,
  path: string,
): { readonly some: boolean; readonly every: boolean } {
  if (path.length > maxPath) return { some: true, every: false };
  const normal = globMatches(normalReading(pattern), normalReading(path));
  const loose = globMatches(looseReading(pattern), looseReading(path));
  return { some: normal || loose, every: normal && loose };
}

/** A pattern as a person types it (`/relatório/*`), in the escapes of a URL path. */
export function encodedPattern(pattern: string): string {
  return pattern.replace(/[^!-~]+/g, (run) => encodeURI(run));
}
