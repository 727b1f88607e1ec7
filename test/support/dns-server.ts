/** A name server on loopback whose answers a test writes: enough of RFC 1035 for A and AAAA questions over UDP. */

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

export interface DnsQuestion {
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'other';
}

export interface DnsAnswer {
  /** Of either family; a question gets those of its own. */
  readonly addresses: readonly string[];
  readonly ttlSec?: number;
}

/** What to answer: addresses, a failure, or nothing at all. */
export type DnsResponse = DnsAnswer | 'nxdomain' | 'servfail' | 'silence';

export type DnsHandler = (question: DnsQuestion) => DnsResponse | Promise<DnsResponse>;

const flags = { answer: 0x8180, nxdomain: 0x8183, servfail: 0x8182 };

export class DnsServer implements AsyncDisposable {
  /** Every question that came, in order. */
  readonly questions: DnsQuestion[] = [];
  readonly #socket: Socket;
  readonly #handler: DnsHandler;

  private constructor(socket: Socket, handler: DnsHandler) {
    this.#socket = socket;
    this.#handler = handler;
    socket.on('message', (message, from) => {
      this.#answer(message, (bytes) => socket.send(bytes, from.port, from.address)).catch((error) => {
        socket.emit('error', error);
      });
    });
  }

  /** @param at by default a free port of loopback */
  static async start(handler: DnsHandler, at = { host: '127.0.0.1', port: 0 }): Promise<DnsServer> {
    const socket = createSocket('udp4');
    const server = new DnsServer(socket, handler);
    socket.bind(at.port, at.host);
    await once(socket, 'listening');
    return server;
  }

  /** `ip:port`, as a resolver takes it. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** How many questions of this type came for `name`. */
  count(name: string, type: DnsQuestion['type'] = 'A'): number {
    return this.questions.filter((question) => question.name === name && question.type === type).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  async #answer(message: Buffer, send: (bytes: Buffer) => void): Promise<void> {
    const { name, code, end } = readQuestion(message);
    const type = code === 1 ? 'A' : code === 28 ? 'AAAA' : 'other';
    const question: DnsQuestion = { name, type };
    this.questions.push(question);
    const response = await this.#handler(question);
    if (response === 'silence') return;
    const asked = message.subarray(12, end);
    if (response === 'nxdomain' || response === 'servfail') {
      send(Buffer.concat([header(message, flags[response], 0), asked]));
      return;
    }
    const family = type === 'AAAA' ? 6 : 4;
    const records = response.addresses
      .filter((address) => isIP(address) === family)
      .map((address) => addressRecord(address, code, response.ttlSec ?? 0));
    send(Buffer.concat([header(message, flags.answer, records.length), asked, ...records]));
  }
}

function readQuestion(message: Buffer): { name: string; code: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), code: message.readUInt16BE(at + 1), end: at + 5 };
}

function header(query: Buffer, flagBits: number, answers: number): Buffer {
  const bytes = Buffer.alloc(12);
  query.copy(bytes, 0, 0, 2);
  bytes.writeUInt16BE(flagBits, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(answers, 6);
  return bytes;
}

function addressRecord(address: string, code: number, ttlSec: number): Buffer {
  const data = isIP(address) === 4 ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const bytes = Buffer.alloc(12);
  // The name is the one of the question, by a pointer to byte 12.
  bytes.writeUInt16BE(0xc00c, 0);
  bytes.writeUInt16BE(code, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt32BE(ttlSec, 6);
  bytes.writeUInt16BE(data.length, 10);
  return Buffer.concat([bytes, data]);
}

/** Hexadecimal groups with at most one `::`; no dotted tail. */
function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  const bytes = Buffer.alloc(16);
  for (const [i, group] of [...left, ...zeros, ...right].entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16), i * 2);
  }
  return bytes;
}
