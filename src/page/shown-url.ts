/** A URL without its user and password: what is told of an address must not give them on. */
export function withoutUser(url: string): string {
  if (!url.includes('@')) return url;
  const parsed = URL.parse(url);
  if (!parsed || (parsed.username === '' && parsed.password === '')) return url;
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
