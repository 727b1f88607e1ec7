import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HostsFile, parseHosts } from '../../src/policy/hosts-file.ts';
import { Resolver, type ResolverOptions } from '../../src/policy/resolver.ts';
import { type DnsHandler, DnsServer } from '../support/dns-server.ts';

const noHosts = new HostsFile('/nonexistent/hosts');

/** A resolver that asks a name server of the test. */
async function start(handler: DnsHandler, options: ResolverOptions = {}) {
  const dns = await DnsServer.start(handler);
  const resolver = new Resolver({ servers: [dns.address], hostsFile: noHosts, ...options });
  return {
    dns,
    resolver,
    async [Symbol.asyncDispose](): Promise<void> {
      resolver.close();
      await dns[Symbol.asyncDispose]();
    },
  };
}

const both = { addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] };

describe('resolving a name', () => {
  test('gives every address of both families, by one question for each', async () => {
    await using all = await start(() => both);
    expect(await all.resolver.resolve('a.example')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    expect(all.dns.count('a.example', 'A')).toBe(1);
    expect(all.dns.count('a.example', 'AAAA')).toBe(1);
  });

  test('a name with one family is enough', async () => {
    await using all = await start(({ type }) => (type === 'A' ? both : 'nxdomain'));
    expect(await all.resolver.resolve('a.example')).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  test('a family that does not answer does not hold up the other for long', async () => {
    await using all = await start(({ type }) => (type === 'A' ? both : 'silence'));
    expect(await all.resolver.resolve('a.example')).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  test('localhost and what is below it never reach a name server', async () => {
    await using all = await start(() => both);
    expect(await all.resolver.resolve('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(await all.resolver.resolve('app.localhost')).toEqual(['127.0.0.1', '::1']);
    expect(all.dns.questions).toEqual([]);
  });

  test.each(['127.0.0.1', '::1', 'a\0b', 'a b', 'a..b', '', '.', 'A.example', 'a.example.', 'é.example'])(
    'never asks for %j',
    async (name) => {
      await using all = await start(() => both);
      await expect(all.resolver.resolve(name)).rejects.toMatchObject({ fault: 'failed' });
      expect(all.dns.questions).toEqual([]);
    },
  );

  test('says which way it failed', async () => {
    await using all = await start(({ name }) => {
      if (name === 'none.example') return 'nxdomain';
      return name === 'empty.example' ? { addresses: [] } : 'servfail';
    });
    await expect(all.resolver.resolve('none.example')).rejects.toMatchObject({ fault: 'not_found' });
    await expect(all.resolver.resolve('empty.example')).rejects.toMatchObject({ fault: 'not_found' });
    await expect(all.resolver.resolve('broken.example')).rejects.toMatchObject({ fault: 'failed' });
  });

  test('a name server that never answers is a timeout', async () => {
    await using all = await start(() => 'silence', { timeoutMs: 200 });
    await expect(all.resolver.resolve('a.example')).rejects.toMatchObject({ fault: 'timeout' });
  });

  test('an answer without end is no answer', async () => {
    const addresses = Array.from({ length: 300 }, (_, i) => `192.0.${i >> 8}.${i & 255}`);
    await using all = await start(({ type }) => (type === 'A' ? { addresses } : 'nxdomain'));
    await expect(all.resolver.resolve('a.example')).rejects.toMatchObject({ fault: 'failed' });
  });

  test('lookups at one time are one lookup', async () => {
    const gate = Promise.withResolvers<void>();
    await using all = await start(() => gate.promise.then(() => both));
    const answers = Promise.all(Array.from({ length: 20 }, () => all.resolver.resolve('a.example')));
    gate.resolve();
    await answers;
    expect(all.dns.count('a.example')).toBe(1);
  });

  test('one who stops waiting does not stop the others', async () => {
    const gate = Promise.withResolvers<void>();
    await using all = await start(() => gate.promise.then(() => both));
    const stop = new AbortController();
    const first = all.resolver.resolve('a.example', stop.signal);
    const second = all.resolver.resolve('a.example', new AbortController().signal);
    stop.abort();
    await expect(first).rejects.toMatchObject({ fault: 'cancelled' });
    gate.resolve();
    expect(await second).toContain('192.0.2.1');
    await expect(all.resolver.resolve('b.example', stop.signal)).rejects.toMatchObject({
      fault: 'cancelled',
    });
  });

  test('no more than so many are asked for at one time', async () => {
    const gate = Promise.withResolvers<void>();
    await using all = await start(() => gate.promise.then(() => both), { maxConcurrent: 2 });
    const answers = [1, 2, 3, 4].map((i) => all.resolver.resolve(`h${i}.example`));
    while (all.dns.questions.length < 4) await new Promise(setImmediate);
    expect(new Set(all.dns.questions.map(({ name }) => name))).toEqual(new Set(['h1.example', 'h2.example']));
    gate.resolve();
    await Promise.all(answers);
    expect(all.dns.questions).toHaveLength(8);
  });

  test('closing ends all lookups, waiting ones too', async () => {
    await using all = await start(() => 'silence', { maxConcurrent: 1 });
    const answers = [1, 2].map((i) => all.resolver.resolve(`h${i}.example`));
    while (all.dns.questions.length < 2) await new Promise(setImmediate);
    all.resolver.close();
    for (const answer of await Promise.allSettled(answers)) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { fault: 'cancelled' } });
    }
  });
});

describe('the cache', () => {
  test('an answer is used again for its time to live', async () => {
    await using all = await start(() => ({ ...both, ttlSec: 30 }));
    const first = await all.resolver.resolve('a.example');
    expect(await all.resolver.resolve('a.example')).toEqual(first);
    expect(all.dns.count('a.example')).toBe(1);
  });

  test('an answer with time 0 is asked for again', async () => {
    await using all = await start(() => both);
    await all.resolver.resolve('a.example');
    await all.resolver.resolve('a.example');
    expect(all.dns.count('a.example')).toBe(2);
  });

  test('no answer is kept longer than the limit, whatever it says', async () => {
    await using all = await start(() => ({ ...both, ttlSec: 86_400 }), { maxCacheMs: 1 });
    await all.resolver.resolve('a.example');
    const until = performance.now() + 5;
    while (performance.now() < until) await new Promise(setImmediate);
    await all.resolver.resolve('a.example');
    expect(all.dns.count('a.example')).toBe(2);
  });
});

describe('the hosts file', () => {
  test('comes before DNS', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'hosts-'));
    try {
      const path = join(directory, 'hosts');
      await writeFile(path, '10.1.1.1 dev.example\n');
      const hostsFile = new HostsFile(path, 0);
      await using all = await start(() => both, { hostsFile });
      expect(await all.resolver.resolve('dev.example')).toEqual(['10.1.1.1']);
      expect(all.dns.questions).toEqual([]);

      await writeFile(path, '10.1.1.22 dev.example\n');
      await utimes(path, 1, 1);
      expect(await all.resolver.resolve('dev.example')).toEqual(['10.1.1.22']);

      await rm(path);
      expect(await all.resolver.resolve('dev.example')).toContain('192.0.2.1');
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('reads names, aliases and comments, and leaves out what is no address', () => {
    const names = parseHosts(
      '# local\n127.0.0.1\tlocalhost  LOCAL.example. # me\r\n::1 localhost\nfe80::1%lo0 zone\nnonsense x\n10.0.0.1\n',
    );
    expect(Object.fromEntries(names)).toEqual({
      localhost: ['127.0.0.1', '::1'],
      'local.example': ['127.0.0.1'],
    });
  });
});
