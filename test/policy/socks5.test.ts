import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { handshakeLimitBytes, Socks5Handshake, type SocksStep } from '../../src/policy/socks5.ts';
import { greeting, requestBytes, requestIPv4 } from '../support/socks-client.ts';

/** All steps that `chunks` lead to, up to the one that ends it or asks for more. */
function steps(...chunks: Uint8Array[]): SocksStep[] {
  const handshake = new Socks5Handshake();
  const taken: SocksStep[] = [];
  for (const chunk of chunks) {
    handshake.push(chunk);
    let step = handshake.next();
    for (; step.kind === 'send'; step = handshake.next()) taken.push(step);
    if (step.kind !== 'more') return [...taken, step];
  }
  return [...taken, { kind: 'more' }];
}

function last(...chunks: Uint8Array[]): SocksStep | undefined {
  return steps(...chunks).at(-1);
}

function request(host: string | Uint8Array, port = 443): SocksStep | undefined {
  return last(greeting, requestBytes(host, port));
}

describe('a SOCKS5 handshake', () => {
  test('takes the greeting that Chrome sends and a CONNECT by name', () => {
    expect(steps(greeting, requestBytes('example.com', 443))).toEqual([
      { kind: 'send', bytes: Uint8Array.of(5, 0) },
      { kind: 'connect', host: 'example.com', port: 443, rest: new Uint8Array(0) },
    ]);
  });

  test('takes IPv4 and IPv6 addresses in bytes', () => {
    expect(last(greeting, requestIPv4('192.0.2.7', 80))).toMatchObject({ host: '192.0.2.7', port: 80 });
    const v6 = Uint8Array.of(5, 1, 0, 4, ...new Uint8Array(15), 1, 0, 80);
    expect(last(greeting, v6)).toMatchObject({ kind: 'connect', host: '::1', port: 80 });
  });

  test('finds a method among several, and refuses when there is none for it', () => {
    expect(steps(Uint8Array.of(5, 3, 2, 1, 0))[0]).toEqual({ kind: 'send', bytes: Uint8Array.of(5, 0) });
    for (const methods of [Uint8Array.of(5, 0), Uint8Array.of(5, 2, 1, 2)]) {
      expect(last(methods)).toMatchObject({ kind: 'refuse', bytes: Uint8Array.of(5, 0xff) });
    }
  });

  test.each([
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['a TLS ClientHello', Uint8Array.of(0x16, 3, 1, 2, 0, 1)],
    ['SOCKS4', Uint8Array.of(4, 1, 0, 80, 127, 0, 0, 1, 0)],
    ['NUL', Uint8Array.of(0)],
  ])('has no answer to %s', (_name, bytes) => {
    expect(steps(bytes)).toEqual([{ kind: 'silent', why: 'not_socks5' }]);
  });

  test.each([
    ['BIND', requestBytes('a.example', 1, 2), 7],
    ['UDP ASSOCIATE', requestBytes('a.example', 1, 3), 7],
    ['an unknown command', requestBytes('a.example', 1, 0x7f), 7],
    ['an unknown address type', Uint8Array.of(5, 1, 0, 2, 1, 1, 1, 1), 8],
    ['another version in the request', Uint8Array.of(4, 1, 0, 1), 1],
    ['a reserved byte that is not 0', Uint8Array.of(5, 1, 1, 1), 1],
  ])('answers %s with its code', (_name, bytes, code) => {
    expect(last(greeting, bytes)).toMatchObject({
      kind: 'refuse',
      bytes: Uint8Array.of(5, code, 0, 1, 0, 0, 0, 0, 0, 0),
    });
  });

  test.each([
    ['EXAMPLE.com', 'example.com'],
    ['example.com.', 'example.com'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:7f00:1', '::ffff:7f00:1'],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('reads the name %s', (sent, host) => {
    expect(request(sent)).toMatchObject({ kind: 'connect', host });
  });

  test.each([
    ['NUL, as Chrome sends it for TURN', '127.0.0.1%00.test'],
    ['a NUL byte', '127.0.0.1\0.example.com'],
    ['a zone id', 'fe80::1%25lo'],
    ['brackets', '[::1]'],
    ['a space', 'a b.example'],
    ['a line break', 'a.example\r\nx'],
    ['a port', 'a.example:80'],
    ['user information', 'user@a.example'],
    ['a path', 'a.example/x'],
    ['bytes over 127', 'bücher.example'],
    ['two trailing dots', 'a.example..'],
    ['an empty label', 'a..example'],
    ['a leading dot', '.example'],
    ['only a dot', '.'],
    ['nothing', ''],
    ['a trailing dot on IPv6', '::1.'],
    ['a label of 64', `${'a'.repeat(64)}.example`],
    ['254 characters', `${'a.'.repeat(126)}aa`],
    ['255 characters', `${'a.'.repeat(127)}a`],
  ])('refuses a name with %s by reply 2', (_name, host) => {
    expect(request(host)).toMatchObject({ kind: 'refuse', why: 'bad_name', bytes: { 1: 2 } });
  });

  test('shows a refused name in printable characters only', () => {
    expect(request('a\0b\r\n\x1b[31m\\')).toMatchObject({ host: 'a\\x00b\\x0d\\x0a\\x1b[31m\\x5c' });
  });

  test('refuses a request that would take it over the limit, before it has arrived', () => {
    const greedy = Uint8Array.of(5, 255, ...new Uint8Array(255));
    const long = Uint8Array.of(5, 1, 0, 3, 255);
    expect(greedy.length + long.length + 255 + 2).toBeGreaterThan(handshakeLimitBytes);
    expect(last(greedy, long)).toMatchObject({ kind: 'refuse', why: 'too_long' });
  });

  test('gives back exactly the bytes that follow the request', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (tail) => {
        const step = last(Buffer.concat([greeting, requestBytes('a.example', 80), tail]));
        expect(step).toMatchObject({ kind: 'connect', host: 'a.example', port: 80 });
        if (step?.kind === 'connect') expect(Buffer.compare(step.rest, tail)).toBe(0);
      }),
    );
  });

  test('does not depend on how the bytes are cut', () => {
    const stream = fc.oneof(
      fc.uint8Array({ maxLength: 600 }),
      fc
        .tuple(fc.uint8Array({ maxLength: 255 }), fc.uint8Array({ maxLength: 255 }), fc.nat(65_535))
        .map(([methods, name, port]) =>
          Buffer.concat([Uint8Array.of(5, methods.length), methods, requestBytes(name, port)]),
        ),
    );
    const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(stream, cuts, (bytes, sizes) => {
        const chunks: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const whole = steps(bytes);
        const cut = steps(...chunks);
        // The rest is what had arrived by then, so it may be shorter.
        expect(cut.map(withoutRest)).toEqual(whole.map(withoutRest));
      }),
      { numRuns: 1000 },
    );
  });

  test('never throws, and ends or waits within its limit, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 }), (chunks) => {
        const end = steps(...chunks).at(-1);
        const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        if (total > handshakeLimitBytes + 300) expect(end?.kind).not.toBe('more');
      }),
      { numRuns: 1000 },
    );
  });

  test('a finished handshake repeats its end', () => {
    const handshake = new Socks5Handshake();
    handshake.push(Uint8Array.of(1));
    expect(handshake.next()).toEqual(handshake.next());
    handshake.push(greeting);
    expect(handshake.next()).toMatchObject({ kind: 'silent' });
  });

  test('keeps its own copy of what was pushed', () => {
    const handshake = new Socks5Handshake();
    const reused = Uint8Array.from(greeting);
    handshake.push(reused.subarray(0, 2));
    reused.fill(0xff);
    handshake.push(Uint8Array.of(0));
    expect(handshake.next()).toMatchObject({ kind: 'send' });
  });
});

function withoutRest(step: SocksStep): SocksStep {
  return step.kind === 'connect' ? { ...step, rest: new Uint8Array(0) } : step;
}
