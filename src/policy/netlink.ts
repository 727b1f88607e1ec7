/**
 * One question to the kernel over netlink(7), by the C library's own calls through `node:ffi`. Undefined wherever that
 * cannot be done: another system, a Node without ffi or one that may not use it (`--permission`), a sandbox without
 * netlink.
 */

type Ffi = typeof import('node:ffi');

const AF_NETLINK = 16;
const SOCK_RAW = 3;
const SOCK_CLOEXEC = 0o2_000_000;
const MSG_DONTWAIT = 0x40;
/** `struct sockaddr_nl`: u16 family, u16 padding, u32 port id, u32 groups. The kernel's port id is 0. */
const SOCKADDR_NL = { bytes: 12, portId: 4 } as const;

/** `size_t` and `ssize_t` have 64 bits on every machine of `ARCHITECTURES`. */
const CALLS = {
  socket: { arguments: ['int32', 'int32', 'int32'], return: 'int32' },
  send: { arguments: ['int32', 'buffer', 'uint64', 'int32'], return: 'int64' },
  recvfrom: { arguments: ['int32', 'buffer', 'uint64', 'int32', 'buffer', 'buffer'], return: 'int64' },
  close: { arguments: ['int32'], return: 'int32' },
} as const;

/** Others have other numbers for the constants above, or other sizes. */
const ARCHITECTURES: readonly string[] = ['x64', 'arm64'];

type Calls = ReturnType<typeof openCalls>;

let calls: Calls | undefined;
let tried = false;

/**
 * Sends `request` and fills `answer` with what the kernel says to it.
 *
 * The socket is made for this one question, so that no answer to another can be waiting in it. The kernel answers within
 * `send`, and neither call waits: the event loop is held for 10 µs, 4 of them for making and closing the socket.
 * @returns the bytes of the answer, or undefined when there is none
 */
export function askKernel(protocol: number, request: Uint8Array, answer: Uint8Array): number | undefined {
  calls = tried ? calls : openOrNone();
  if (calls === undefined) return undefined;
  const fd = calls.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  if (fd < 0) return undefined;
  try {
    return exchange(calls, fd, request, answer);
  } finally {
    calls.close(fd);
  }
}

function exchange(
  { send, recvfrom }: Calls,
  fd: number,
  request: Uint8Array,
  answer: Uint8Array,
): number | undefined {
  if (Number(send(fd, request, BigInt(request.length), MSG_DONTWAIT)) !== request.length) return undefined;
  const from = new Uint32Array(SOCKADDR_NL.bytes / 4);
  const fromBytes = Uint32Array.of(SOCKADDR_NL.bytes);
  const received = Number(recvfrom(fd, answer, BigInt(answer.length), MSG_DONTWAIT, from, fromBytes));
  // Root may send to any netlink socket.
  const byKernel = fromBytes[0] === SOCKADDR_NL.bytes && from[SOCKADDR_NL.portId / 4] === 0;
  return byKernel && received > 0 ? received : undefined;
}

function openOrNone(): Calls | undefined {
  tried = true;
  if (process.platform !== 'linux' || !ARCHITECTURES.includes(process.arch)) return undefined;
  try {
    const ffi = loadFfi();
    return ffi && openCalls(ffi);
  } catch {
    // Without the right to use it, or without one of the functions.
    return undefined;
  }
}

/** From the running program, which has its C library with it: glibc or musl, wherever it lies. */
function openCalls(ffi: Ffi) {
  return ffi.dlopen(null, CALLS).functions;
}

/**
 * Node says once that ffi is experimental, by `process.emitWarning`, while the module loads. No option hides one warning
 * and leaves the others of its kind, so it is caught at its source; whatever else is said meanwhile is passed on.
 */
function loadFfi(): Ffi | undefined {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:ffi');
  } finally {
    process.emitWarning = emitWarning;
  }
}
