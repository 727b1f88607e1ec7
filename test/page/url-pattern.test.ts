import { expect, test } from 'vitest';
import { fitsGlob } from '../../src/page/url-pattern.ts';

test.each([
  ['http://a.test/x', 'http://a.test/x', true],
  ['/x', 'http://a.test/x?y', true],
  ['/y', 'http://a.test/x', false],
  ['**/x', 'http://a.test/p/x', true],
  ['http://*/x', 'http://a.test/x', true],
  ['http://*/x', 'http://a.test/p/x', false],
  ['http://**/x', 'http://a.test/p/x', true],
  ['**/x?y=*', 'http://a.test/x?y=1', true],
  ['**/x', 'http://a.test/x/', false],
  ['**', '', true],
  ['*', 'a/b', false],
  ['http://a.test/*', 'http://a.test/', true],
])('%s on %s: %s', (pattern, url, fits) => {
  expect(fitsGlob(pattern, url)).toBe(fits);
});

test('a pattern of many stars is no trap', () => {
  expect(fitsGlob('*a'.repeat(500), 'a'.repeat(5000).concat('b'))).toBe(false);
});
