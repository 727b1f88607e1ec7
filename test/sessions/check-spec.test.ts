import { describe, expect, test } from 'vitest';
import { canonicalTimeZone, checkLimits, checkSpec } from '../../src/sessions/check-spec.ts';
import type { SessionSpec } from '../../src/sessions/spec.ts';

const ceilings = { ttlSec: 3600, idleSec: 600 };

function refusal(spec: SessionSpec): unknown {
  try {
    checkSpec(spec, ceilings);
  } catch (error) {
    return error;
  }
  return undefined;
}

test.each([['Mars/Base'], ['+01:00'], ['Z'], ['GMT+3'], ['Etc/Unknown']])(
  'the time zone %s is refused',
  (timezone) => {
    expect(refusal({ timezone })).toMatchObject({ code: 'invalid_request', extra: { pointer: '/timezone' } });
  },
);

test('a time zone is given to Chrome as ICU spells it', () => {
  expect(canonicalTimeZone('america/sao_paulo')).toBe('America/Sao_Paulo');
  expect(canonicalTimeZone('utc')).toBe('UTC');
  expect(canonicalTimeZone('Etc/GMT+3')).toBe('Etc/GMT+3');
});

test.each(['abc-def-ghi', 'en-US-US', 'aa-ab1', 'ab-cd-ef'])('the locale %s is refused', (locale) => {
  expect(refusal({ locale })).toMatchObject({ code: 'invalid_request', extra: { pointer: '/locale' } });
});

test.each(['pt-BR', 'en_US', 'zh-Hant-TW', 'es-419', 'tlh'])('the locale %s is taken', (locale) => {
  expect(refusal({ locale })).toBeUndefined();
});

describe('headers', () => {
  test.each(
    (
      'Host content-length Connection Transfer-Encoding Keep-Alive UPGRADE TE Trailer Expect Proxy-Authorization ' +
      'proxy-x Cookie2 Set-Cookie Referer Origin Sec-Fetch-Site'
    ).split(' '),
  )('%s is the browser’s', (name) => {
    expect(refusal({ extraHeaders: { [name]: 'v' } })).toMatchObject({
      code: 'invalid_request',
      message: `/extraHeaders/${name}: is a header that the browser sets itself`,
    });
  });

  test.each([
    ['X A', '/extraHeaders/X A'],
    ['', '/extraHeaders/'],
    ['X:A', '/extraHeaders/X:A'],
    ['a/b~c', '/extraHeaders/a~1b~0c'],
    ['Ü', '/extraHeaders/Ü'],
    ['x\r\ny', '/extraHeaders/x\r\ny'],
  ])('%j is no name', (name, pointer) => {
    expect(refusal({ extraHeaders: { [name]: 'v' } })).toMatchObject({
      code: 'invalid_request',
      extra: { pointer },
    });
  });

  test.each(['a\nb', 'a\rb', 'a\0b', '\x01', 'a\x7fb'])('%j is no value', (value) => {
    expect(refusal({ extraHeaders: { 'X-A': value } })).toMatchObject({
      extra: { pointer: '/extraHeaders/X-A' },
    });
  });

  test('others are taken', () => {
    const extraHeaders = {
      'X-A': 'a\tb',
      x_b: '',
      Authorization: 'Basic eDp5',
      "a!#$%&'*+.^`|~": 'é',
      Cookie: 'a=b',
    };
    expect(refusal({ extraHeaders })).toBeUndefined();
  });
});

test('an init script that cannot be parsed is refused with its place, and none is run', () => {
  const initScripts = ['globalThis.ran = true', 'let a = 1;\nlet a = 2;'];
  expect(refusal({ initScripts })).toMatchObject({
    code: 'invalid_request',
    extra: { pointer: '/initScripts/1' },
    message: expect.stringMatching(/already been declared \(line 2\)$/),
  });
  expect('ran' in globalThis).toBe(false);
  expect(refusal({ initScripts: ['await 0'] })).toMatchObject({ extra: { pointer: '/initScripts/0' } });
  expect(refusal({ initScripts: ['', '(async () => { await 0 })()'] })).toBeUndefined();
});

test('more life than the service gives is refused with the limit', () => {
  expect(refusal({ ttlSec: 3601 })).toMatchObject({
    message: '/ttlSec: must be <= 3600, the limit of this service',
  });
  expect(refusal({ idleSec: 601 })).toMatchObject({ extra: { pointer: '/idleSec' } });
  expect(refusal({ ttlSec: 3600, idleSec: 600 })).toBeUndefined();
  expect(() => checkLimits({ idleSec: 601 }, ceilings)).toThrow(/600/);
});

test('a state that is neither cookies nor origins is refused', () => {
  expect(refusal({ storageState: {} })).toMatchObject({ extra: { pointer: '/storageState' } });
  expect(refusal({ storageState: { cookies: [] } })).toBeUndefined();
});
