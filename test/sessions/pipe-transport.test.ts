import { spawn } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import puppeteer from 'puppeteer-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PipeTransport, type PipeTransportOptions } from '../../src/sessions/pipe-transport.ts';
import { engines, installed, startChrome } from '../support/real-chrome.ts';

/** A transport whose messages come back through real pipes and another process. */
function echo(command = ['cat'], options: PipeTransportOptions = {}) {
  const [program = 'cat', ...args] = command;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return { child, transport: new PipeTransport(child.stdin, child.stdout, options) };
}

function collect(transport: PipeTransport, count: number): Promise<string[]> {
  return new Promise((resolve) => {
    const got: string[] = [];
    transport.onmessage = (message) => {
      got.push(message);
      if (got.length === count) resolve(got);
    };
  });
}

describe('over real pipes', () => {
  test('messages of every size come back whole and in order', async () => {
    const { transport } = echo();
    const sent = ['{}', 'ü€😀'.repeat(40_000), '', 'x'.repeat(5_000_000), '{"id":1}'];
    const got = collect(transport, sent.length);
    for (const message of sent) transport.send(message);
    expect((await got).map((message) => message.length)).toEqual(sent.map((message) => message.length));
    expect(await got).toEqual(sent);
  });

  test('what arrives before a handler is set waits for it', async () => {
    const { transport } = echo();
    transport.send('early');
    transport.send('late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await collect(transport, 2)).toEqual(['early', 'late']);
  });

  test('the other side going away ends it with "ended", after its last message', async () => {
    const { transport } = echo(['head', '-c', '6']);
    const got = collect(transport, 1);
    let closes = 0;
    transport.onclose = () => closes++;
    transport.send('hello');
    expect(await got).toEqual(['hello']);
    expect(await transport.closed).toMatchObject({ kind: 'ended' });
    expect(closes).toBe(1);
    expect(() => transport.send('more')).toThrow('ended');
  });

  test('a peer that does not read ends it with "write_queue_full", and sends are bounded', async () => {
    const { transport } = echo(['sleep', '60'], { maxQueuedBytes: 1_000_000 });
    const message = 'x'.repeat(100_000);
    let sent = 0;
    expect(() => {
      for (; sent < 1_000; sent++) transport.send(message);
    }).toThrow('write_queue_full');
    expect(sent).toBeLessThan(20);
    expect((await transport.closed).kind).toBe('write_queue_full');
  });

  test('a slow reader gets everything', async () => {
    const { child, transport } = echo();
    child.kill('SIGSTOP');
    const sent = Array.from({ length: 50 }, (_, index) => `${index}:${'y'.repeat(50_000)}`);
    for (const message of sent) transport.send(message);
    expect(transport.queuedBytes).toBeGreaterThan(0);
    child.kill('SIGCONT');
    expect(await collect(transport, sent.length)).toEqual(sent);
    expect(transport.queuedBytes).toBe(0);
  });
});

describe('closing', () => {
  test('close is idempotent, calls onclose once, and ends both streams', async () => {
    const { child, transport } = echo();
    let closes = 0;
    transport.onclose = () => closes++;
    transport.onmessage = () => undefined;
    transport.close();
    transport.close();
    expect(await transport.closed).toEqual({ kind: 'closed', detail: 'closed by the service' });
    expect(closes).toBe(1);
    expect(transport.closeReason?.kind).toBe('closed');
    await new Promise((resolve) => child.once('exit', resolve)); // cat ends when its input does
  });

  test('nothing is delivered after close, not even the rest of the same chunk', () => {
    const { transport, read } = streams();
    const got: string[] = [];
    transport.onmessage = (message) => {
      got.push(message);
      transport.close();
    };
    read.emit('data', Buffer.from('one\0two\0'));
    expect(got).toEqual(['one']);
  });

  test('a handler that throws closes with the cause', async () => {
    const { transport, read } = streams();
    const cause = new Error('boom');
    transport.onmessage = () => {
      throw cause;
    };
    read.write('one\0');
    expect(await transport.closed).toEqual({ kind: 'handler_failed', detail: 'boom', cause });
  });

  test('a handler set to undefined drops messages and keeps the connection', () => {
    const { transport, read } = streams();
    const got: string[] = [];
    transport.onmessage = (message) => got.push(message);
    read.emit('data', Buffer.from('one\0'));
    transport.onmessage = undefined;
    read.emit('data', Buffer.from('two\0'));
    expect(got).toEqual(['one']);
    expect(transport.closeReason).toBeUndefined();
  });

  test('a failure of either stream ends it with that failure', async () => {
    const reading = streams();
    reading.read.destroy(new Error('bad read'));
    expect(await reading.transport.closed).toMatchObject({ kind: 'read_failed', detail: 'bad read' });
    const writing = streams();
    writing.write.destroy(new Error('bad write'));
    expect(await writing.transport.closed).toMatchObject({ kind: 'write_failed', detail: 'bad write' });
  });
});

test('a message over the limit closes with "message_too_large"; one of the limit passes', async () => {
  const { transport, read } = streams({ maxMessageBytes: 10 });
  const got: string[] = [];
  transport.onmessage = (message) => got.push(message);
  read.write(`${'a'.repeat(10)}\0`);
  read.write('b'.repeat(6));
  read.write('b'.repeat(5));
  expect(await transport.closed).toMatchObject({ kind: 'message_too_large' });
  expect(got).toEqual(['a'.repeat(10)]);
});

test('a message with a NUL is refused: it would be two', () => {
  const { transport } = streams();
  expect(() => transport.send('a\0b')).toThrow('NUL');
  expect(transport.closeReason).toBeUndefined();
});

for (const engine of engines) {
  const path = installed(engine);
  test.skipIf(path === undefined)(`puppeteer-core drives a real ${engine} through it`, async () => {
    if (path === undefined) return;
    // No floor behind it: nothing is loaded.
    const chrome = await startChrome(engine, path, { address: '127.0.0.1', port: 9 });
    const transport = new PipeTransport(chrome.pipeWrite, chrome.pipeRead);
    const browser = await puppeteer.connect({ transport });
    expect(await browser.version()).toBe(chrome.product);
    const page = await browser.newPage();
    const big = await page.evaluate(() => 'é'.repeat(2_000_000));
    expect(big.length).toBe(2_000_000);
    await browser.close();
    expect(await transport.closed).toMatchObject({ kind: expect.stringMatching(/^(ended|closed)$/) });
    expect(await chrome.exited).toEqual({ code: 0, signal: null });
  });
}

function streams(options: PipeTransportOptions = {}): {
  transport: PipeTransport;
  read: Readable & Writable;
  write: Readable & Writable;
} {
  const [write, read] = [new PassThrough(), new PassThrough()];
  return { transport: new PipeTransport(write, read, options), read, write };
}
