/**
 * Starts one Chrome over a debugging pipe. No shell, no inherited environment, no inherited descriptors; the process
 * leads its own session and group, so that the kill ladder has a group to signal.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Server } from 'node:net';
import { Duplex, type Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AirlockError, messageOf } from '../errors.ts';
import { NulFraming } from './nul-framing.ts';
import { fetchListener, inOwnNetwork, type NetworkPlace } from './own-network.ts';

export interface ChromeExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LaunchOptions {
  /** The native binary, as `findChrome` gives it. */
  readonly path: string;
  readonly args: readonly string[];
  /** The whole environment of Chrome: nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Its working directory. */
  readonly cwd: string;
  /** How much of the end of Chrome's standard error is kept, in bytes. */
  readonly stderrLimit: number;
  /** Gives Chrome a network namespace of its own (Linux). */
  readonly ownNetwork?: OwnNetwork | undefined;
  /** How long Chrome may take to answer its first command. Default 30 000. */
  readonly timeoutMs?: number;
  /** Ends the launch; the Chrome that was started is killed first. */
  readonly signal?: AbortSignal;
}

export interface OwnNetwork {
  /** Where something listens in it. */
  readonly place: NetworkPlace;
  /** Told what listens there since before Chrome started. It owns the listener from then on. */
  readonly adopt: (listener: Server) => void;
}

export interface LaunchedChrome {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What Chrome reads commands from: its descriptor 3. */
  readonly pipeWrite: Duplex;
  /** What Chrome writes replies and events to: its descriptor 4. Paused, and at a message boundary. */
  readonly pipeRead: Duplex;
  /** The last `stderrLimit` bytes that Chrome wrote to standard error, as text. */
  readonly stderrTail: () => string;
  /** Resolves when the process has exited and was reaped; never rejects. */
  readonly exited: Promise<ChromeExit>;
  /** What Chrome calls itself, from its first answer: `Chrome/156.0.8078.114` or `HeadlessChrome/…`. */
  readonly product: string;
}

/** A first start writes a profile and, on a busy machine, waits for its turn: tens of seconds have been seen. */
const defaultTimeoutMs = 30_000;
/** Crash handlers were seen to outlive their Chrome by up to 1.5 s, and a message is worth less than that wait. */
const stderrGraceMs = 500;
/** The answer to Browser.getVersion has some 500 bytes. */
const maxFirstAnswerBytes = 64 * 1024;
/** Ids of the connection that follows count from 1; this answer is read here and never reaches it. */
const firstCommand = '{"id":0,"method":"Browser.getVersion"}\0';

/**
 * Starts Chrome and waits for its answer to a first command, so that what is returned is known to run and to speak.
 * When it does not, it is killed with its group before this rejects.
 *
 * @throws AirlockError `browser_unavailable` when it cannot be started, exits before it answers, or does not answer in
 * time: with Chrome's own standard error in the detail and as `stderr`
 * @throws the signal's reason when `signal` ends the launch
 */
export async function launchChrome(options: LaunchOptions): Promise<LaunchedChrome> {
  options.signal?.throwIfAborted();
  const { ownNetwork } = options;
  const command = ownNetwork ? inOwnNetwork(options.path, options.args) : options;
  const child = spawn(command.path, [...command.args], {
    detached: true, // setsid: its own session and process group
    env: { ...options.env },
    cwd: options.cwd,
    shell: false,
    // Chrome's pipe is 3 and 4 by its own definition; it prints nothing that is wanted on standard output.
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', ...(ownNetwork ? (['ipc'] as const) : [])],
  });
  const failedToSpawn = new Promise<Error>((resolve) => child.once('error', resolve));
  const exited = new Promise<ChromeExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  if (pid === undefined) {
    throw unavailable(`${command.path} cannot be started: ${messageOf(await failedToSpawn)}`, '');
  }
  const stderrTail = keepTail(child.stderr, options.stderrLimit);
  const [, , , pipeWrite, pipeRead] = child.stdio;
  try {
    if (!(pipeWrite instanceof Duplex) || !(pipeRead instanceof Duplex))
      throw new Error('Chrome has no pipe');
    // For good: a Chrome that dies closes its pipe under our writes, and its exit tells the story, not EPIPE.
    pipeWrite.on('error', exitTellsIt);
    pipeRead.on('error', exitTellsIt);
    if (ownNetwork) fetchListener(child, ownNetwork.place, ownNetwork.adopt);
    pipeWrite.write(firstCommand);
    const product = await firstAnswer(options, pipeRead, earlyExit(child, exited, stderrTail), stderrTail);
    return { child, pid, pipeWrite, pipeRead, stderrTail, exited, product };
  } catch (error) {
    killGroup(pid, child);
    await exited;
    throw error;
  }
}

/** Rejects when Chrome exits, once its last words have been read. */
async function earlyExit(
  child: ChildProcess,
  exited: Promise<ChromeExit>,
  stderrTail: () => string,
): Promise<never> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exit = await exited;
  // Standard error may be held open for a while by a crash handler that outlives Chrome.
  const grace = new AbortController();
  const waited = delay(stderrGraceMs, undefined, { ref: false, signal: grace.signal }).catch(exitTellsIt);
  await Promise.race([closed, waited]);
  grace.abort();
  throw unavailable(`Chrome ${describeExit(exit)} before it answered`, stderrTail());
}

/** Races Chrome's first answer against its exit, the time limit and the caller's signal. */
async function firstAnswer(
  options: LaunchOptions,
  pipeRead: Duplex,
  gone: Promise<never>,
  stderrTail: () => string,
): Promise<string> {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const stop = Promise.withResolvers<never>();
  const onAbort = (): void => stop.reject(options.signal?.reason);
  const timer = setTimeout(() => {
    stop.reject(unavailable(`Chrome did not answer within ${timeoutMs} ms`, stderrTail()));
  }, timeoutMs);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  const reading = new AbortController();
  // `gone` rejects in the end whoever wins: with every Chrome's exit.
  gone.catch(exitTellsIt);
  try {
    return productOf(await Promise.race([readMessage(pipeRead, reading.signal), stop.promise, gone]));
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
    reading.abort();
  }
}

/** Reads one message and leaves the stream paused. Chrome sends nothing else before it is asked. */
function readMessage(pipeRead: Duplex, until: AbortSignal): Promise<string> {
  const framing = new NulFraming(maxFirstAnswerBytes);
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      try {
        const [message] = [...framing.push(chunk)];
        if (message !== undefined) resolve(message);
      } catch (error) {
        reject(notChrome(messageOf(error)));
      }
    };
    pipeRead.on('data', onData);
    until.addEventListener('abort', () => {
      pipeRead.off('data', onData);
      pipeRead.pause();
    });
  });
}

function productOf(answer: string): string {
  const parsed = parseJson(answer);
  const result = isObject(parsed) ? parsed['result'] : undefined;
  const product = isObject(result) ? result['product'] : undefined;
  if (typeof product !== 'string') {
    throw notChrome(answer.slice(0, 200));
  }
  return product;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON, so not Chrome: the caller says so
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Keeps the last `limit` bytes of a stream, and drains it so that Chrome never waits for a reader. */
function keepTail(stream: Readable | null, limit: number): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    for (let first = chunks[0]; first !== undefined && bytes - first.length >= limit; first = chunks[0]) {
      chunks.shift();
      bytes -= first.length;
    }
  });
  stream?.on('error', exitTellsIt);
  return () => {
    const all = Buffer.concat(chunks);
    return all.subarray(Math.max(0, all.length - limit)).toString('utf8');
  };
}

function describeExit({ code, signal }: ChromeExit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

function notChrome(what: string): AirlockError {
  return unavailable(`what was started does not answer as Chrome does: ${what}`, '');
}

function unavailable(what: string, stderr: string): AirlockError {
  const said = stderr.trim();
  const detail = said === '' ? what : `${what}; Chrome says: ${said.slice(-1_000)}`;
  return new AirlockError('browser_unavailable', detail, said === '' ? {} : { extra: { stderr: said } });
}

function killGroup(pid: number, child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return; // reaped: its pid may be a stranger's by now
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: it died between the check and the signal, and `exited` is about to say so.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function exitTellsIt(): void {
  // nothing to do: the exit of Chrome, which is watched, tells the story
}
