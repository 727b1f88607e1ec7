import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isFileName, numbered, toFileName } from '../../src/page/file-name.ts';

test.each([
  ['report.pdf', 'report.pdf'],
  ['../../etc/passwd', '_.._etc_passwd'],
  ['..', 'download'],
  ['', 'download'],
  ['.bashrc', 'bashrc'],
  ['a\0b\n.txt', 'a_b_.txt'],
  ['C:\\x\\y.exe', 'C:_x_y.exe'],
  ['relatório (1).pdf', 'relatório (1).pdf'],
  ['invoice\u202efdp.exe', 'invoice_fdp.exe'],
  ['half \ud83d.txt', 'half \ufffd.txt'],
])('%j is saved as %j', (suggested, name) => {
  expect(toFileName(suggested)).toBe(name);
});

test.each([
  ['a.txt', 0, 'a.txt'],
  ['a.txt', 1, 'a (1).txt'],
  ['a.tar.gz', 2, 'a (2).tar.gz'],
  ['README', 3, 'README (3)'],
  ['.hidden', 1, '.hidden (1)'],
])('%j, number %i, is %j', (name, number, expected) => {
  expect(numbered(name, number)).toBe(expected);
});

test('whatever is suggested, the name is one of a file, and stays one when it is numbered', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.nat(999), (suggested, number) => {
      const name = toFileName(suggested);
      return (
        isFileName(name) &&
        isFileName(numbered(name, number)) &&
        (number === 0 || numbered(name, number) !== name)
      );
    }),
  );
});

test.each(['', '.', '..', 'a/b', 'a\\b', 'a\0', 'a\nb', '\ud800', 'x'.repeat(256), 'é'.repeat(128)])(
  '%j is no name of a file',
  (name) => {
    expect(isFileName(name)).toBe(false);
  },
);
