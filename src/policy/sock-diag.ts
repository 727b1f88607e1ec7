/**
 * The inode of one TCP socket, asked of the kernel by its two ends: sock_diag(7). Without NLM_F_DUMP the kernel looks that
 * one socket up in its hash, as it does for a packet. The layouts are those of linux/netlink.h and linux/inet_diag.h:
 * ports and addresses in network order, everything else in the machine's.
 */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { endianness } from 'node:os';
import { askKernel } from './netlink.ts';
import type { SocketEnd, SocketEnds } from './socket-ends.ts';

/**
 * The inode of the socket; `none` when there is no such socket, or nobody has it open any more; `unknown` when the kernel
 * cannot be asked.
 */
export type SocketAnswer = number | 'none' | 'unknown';

export type SocketLookup = (ends: SocketEnds) => SocketAnswer;

const NETLINK_SOCK_DIAG = 4;
const SOCK_DIAG_BY_FAMILY = 20;
const NLM_F_REQUEST = 1;
const NLMSG_ERROR = 2;
const ENOENT = 2;
const AF_INET = 2;
const AF_INET6 = 10;
const IPPROTO_TCP = 6;
const TCP_TIME_WAIT = 6;
const INET_DIAG_NOCOOKIE = 0xffff_ffff;

/** `struct nlmsghdr`: its fields, and where what it heads begins. */
const HEADER = { length: 0, type: 4, flags: 6, sequence: 8, bytes: 16 } as const;
/** `int error` of `struct nlmsgerr`: a negative errno. */
const ERROR = HEADER.bytes;
/** `struct inet_diag_req_v2`. */
const REQUEST = { family: 16, protocol: 17, states: 20, id: 24, end: 72 } as const;
/** `struct inet_diag_msg`; attributes follow. */
const ANSWER = { family: 16, state: 17, id: 20, inode: 84, end: 88 } as const;
/** `struct inet_diag_sockid`, from its beginning. An IPv4 address is in the first four bytes of its sixteen. */
const ID = { localPort: 0, remotePort: 2, local: 4, remote: 20, cookie: 40 } as const;

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
const LITTLE = endianness() === 'LE';

/** Large enough for the answer and its attributes: 124 bytes without privileges. */
const buffer = new Uint8Array(4096);
let sequence = 0;
/** A kernel without inet_diag answers ENOENT too, so that means something only once a socket has been found. */
let works = false;

/** Asks the kernel for a socket of this process's network namespace. */
export function findSocket(ends: SocketEnds): SocketAnswer {
  sequence = (sequence + 1) >>> 0;
  let length: number | undefined;
  try {
    length = askKernel(NETLINK_SOCK_DIAG, requestFor(ends, sequence), buffer);
  } catch {
    // ffi is experimental: another Node may want other arguments.
  }
  if (length === undefined) return 'unknown';
  const answer = readAnswer(buffer.subarray(0, length), ends, sequence);
  if (typeof answer === 'number') works = true;
  return answer === 'none' && !works ? 'unknown' : answer;
}

/** Whether it can be asked here: a listener of our own is looked up. */
export async function canFindSockets(): Promise<boolean> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  const answer = findSocket({
    local: { address: [127, 0, 0, 1], port },
    remote: { address: [0, 0, 0, 0], port: 0 },
  });
  server.close();
  return typeof answer === 'number';
}

/**
 * AF_INET finds the IPv6 sockets that use IPv4 as well: the kernel hashes them by their IPv4 addresses
 * (inet_diag_find_one_icsk() in net/ipv4/inet_diag.c, which asks the same for AF_INET6 with mapped addresses).
 */
export function requestFor({ local, remote }: SocketEnds, sequence: number): Uint8Array {
  const bytes = new Uint8Array(REQUEST.end);
  const view = new DataView(bytes.buffer);
  view.setUint32(HEADER.length, REQUEST.end, LITTLE);
  view.setUint16(HEADER.type, SOCK_DIAG_BY_FAMILY, LITTLE);
  view.setUint16(HEADER.flags, NLM_F_REQUEST, LITTLE);
  view.setUint32(HEADER.sequence, sequence, LITTLE);
  bytes[REQUEST.family] = AF_INET;
  bytes[REQUEST.protocol] = IPPROTO_TCP;
  view.setUint32(REQUEST.states, 0xffff_ffff, LITTLE);
  view.setUint16(REQUEST.id + ID.localPort, local.port);
  view.setUint16(REQUEST.id + ID.remotePort, remote.port);
  bytes.set(local.address, REQUEST.id + ID.local);
  bytes.set(remote.address, REQUEST.id + ID.remote);
  view.setUint32(REQUEST.id + ID.cookie, INET_DIAG_NOCOOKIE, LITTLE);
  view.setUint32(REQUEST.id + ID.cookie + 4, INET_DIAG_NOCOOKIE, LITTLE);
  return bytes;
}

/**
 * What `bytes` say about the socket that was asked for. Where no connection has these ends the kernel gives a listener
 * that would take them; that is another socket. One in TIME_WAIT has no owner.
 */
export function readAnswer(bytes: Uint8Array, ends: SocketEnds, sequence: number): SocketAnswer {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER.bytes + 4 || view.getUint32(HEADER.length, LITTLE) > bytes.length)
    return 'unknown';
  if (view.getUint32(HEADER.sequence, LITTLE) !== sequence) return 'unknown';
  const type = view.getUint16(HEADER.type, LITTLE);
  if (type === NLMSG_ERROR) return view.getInt32(ERROR, LITTLE) === -ENOENT ? 'none' : 'unknown';
  if (type !== SOCK_DIAG_BY_FAMILY || view.getUint32(HEADER.length, LITTLE) < ANSWER.end) return 'unknown';
  const inode = view.getUint32(ANSWER.inode, LITTLE);
  if (inode === 0 || bytes[ANSWER.state] === TCP_TIME_WAIT) return 'none';
  const same =
    isEnd(bytes, ends.local, ID.localPort, ID.local) && isEnd(bytes, ends.remote, ID.remotePort, ID.remote);
  return same ? inode : 'none';
}

function isEnd(bytes: Uint8Array, end: SocketEnd, port: number, address: number): boolean {
  const family = bytes[ANSWER.family];
  if (family !== AF_INET && family !== AF_INET6) return false;
  const expected = family === AF_INET ? end.address : [...MAPPED, ...end.address];
  const at = ANSWER.id + port;
  return (
    bytes[at] === end.port >> 8 &&
    bytes[at + 1] === (end.port & 0xff) &&
    expected.every((byte, index) => bytes[ANSWER.id + address + index] === byte)
  );
}
