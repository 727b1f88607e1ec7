/**
 * The network floor of one session: a SOCKS5 listener on loopback through which everything of its Chrome goes. It
 * connects only where the policy said yes, to the very addresses that were judged.
 */

import { createServer, type Server, type Socket } from 'node:net';
import { AirlockError } from '../errors.ts';
import { DeniedError } from './authorise.ts';
import { CanaryWatch } from './canary.ts';
import { toAirlockError } from './connect-error.ts';
import { serveConnection } from './connection.ts';
import type { SelfCheck } from './decide.ts';
import { type Decision, deny } from './decision.ts';
import { DecisionLog } from './decision-log.ts';
import { DialError } from './dial.ts';
import type { Egress } from './egress.ts';
import { FailureLog } from './failure-log.ts';
import type { GuardQuestion } from './guard-hook.ts';
import { listenOnLoopback } from './listen-loopback.ts';
import { type Link, type OpenOptions, Outbound } from './outbound.ts';
import { PeerCheck } from './peer.ts';
import type { Policy } from './policy.ts';
import type { Resolver } from './resolver.ts';
import { Suspension } from './suspension.ts';
import { reset } from './tunnel.ts';

export interface FloorCaps {
  /** Connections from Chrome at one time; more are closed at once. */
  readonly connections: number;
  /** From accept to a complete request. */
  readonly handshakeMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
  /** For all addresses of one connect. */
  readonly dialMs: number;
  /** In and out together, for the life of the session; looked at once in a second. */
  readonly bytes: number;
}

/** The figures of docs/network-policy.md. */
export const defaultFloorCaps: FloorCaps = {
  connections: 256,
  handshakeMs: 5000,
  idleMs: 300_000,
  dialMs: 10_000,
  bytes: Number.POSITIVE_INFINITY,
};

/** Where floors put their ports, so that no session reaches another's. */
export interface FloorSelf extends SelfCheck {
  add(port: number): void;
  remove(port: number): void;
}

export interface FloorOptions {
  readonly policy: Policy;
  readonly self: FloorSelf;
  /** The floor owns it from now on and closes it. */
  readonly resolver: Resolver;
  /** A loopback address; by default a random alias where the system has them. */
  readonly address?: string | undefined;
  /** The processes that may connect; without it every local process may. */
  readonly peerPids?: (() => Promise<ReadonlySet<number>>) | undefined;
  /** A proxy to go out through. */
  readonly egress?: Egress | undefined;
  /** Told to the policy's guards with every question: the session's id, for example. */
  readonly guardContext?: Readonly<Record<string, string>> | undefined;
  readonly caps?: Partial<FloorCaps> | undefined;
}

export interface FloorCounters {
  /** Accepted from Chrome, ever. */
  readonly connections: number;
  readonly active: number;
  /** From the network, for Chrome and our own fetches. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly denied: number;
}

export class Floor implements AsyncDisposable {
  readonly log = new DecisionLog();
  readonly failures = new FailureLog();
  readonly suspension = new Suspension();
  #peer: PeerCheck | undefined;
  /** The first is ours; others are for Chromes that live in another network namespace. */
  readonly #servers: Server[] = [];
  readonly #options: FloorOptions;
  readonly #caps: FloorCaps;
  readonly #outbound: Outbound;
  readonly #canary = new CanaryWatch();
  readonly #clients = new Set<Socket>();
  readonly #links = new Set<Link>();
  readonly #downListeners = new Set<(error: Error) => void>();
  readonly #closing = new AbortController();
  #address = '';
  #port = 0;
  #accepted = 0;
  #bytesIn = 0;
  #bytesOut = 0;
  #byteWatch: NodeJS.Timeout | undefined;
  #closed: Promise<{ connectionsClosed: number }> | undefined;

  private constructor(options: FloorOptions) {
    this.#options = options;
    this.#caps = { ...defaultFloorCaps, ...options.caps };
    this.#outbound = new Outbound({ ...options, log: this.log, dialMs: this.#caps.dialMs });
  }

  /**
   * Listens, and takes its port among those that no session may reach.
   * @throws {AirlockError} floor_down when no loopback port can be had
   */
  static async open(options: FloorOptions): Promise<Floor> {
    const floor = new Floor(options);
    await floor.#listen();
    return floor;
  }

  get address(): string {
    return this.#address;
  }

  get port(): number {
    return this.#port;
  }

  get policy(): Policy {
    return this.#outbound.policy;
  }

  get counters(): FloorCounters {
    let [bytesIn, bytesOut] = [this.#bytesIn, this.#bytesOut];
    for (const { socket } of this.#links) {
      bytesIn += socket.bytesRead;
      bytesOut += socket.bytesWritten;
    }
    const active = this.#clients.size;
    return { connections: this.#accepted, active, bytesIn, bytesOut, denied: this.log.counters.denied };
  }

  /**
   * Judges by `policy` from now on. Open connections that it does not let through are reset.
   * @returns how many were
   */
  setPolicy(policy: Policy): { connectionsClosed: number } {
    this.#outbound.setPolicy(policy);
    let connectionsClosed = 0;
    for (const link of this.#links) {
      if (this.#outbound.passes(link)) continue;
      reset(link.socket);
      connectionsClosed += 1;
    }
    return { connectionsClosed };
  }

  /**
   * Resets what is under way, and lets nothing through until `suspension.end()`.
   * @returns how many connections of Chrome it were, without those that `setPolicy` has just reset
   */
  suspend(): number {
    this.suspension.begin();
    const ended = [...this.#links].filter(({ socket }) => socket.destroyed).length;
    const cut = Math.max(0, this.#clients.size - ended);
    for (const client of this.#clients) reset(client);
    for (const { socket } of this.#links) reset(socket);
    return cut;
  }

  get egress(): Egress | undefined {
    return this.#outbound.egress;
  }

  /** Goes out through `egress` from now on; for a floor that nothing has gone through yet. */
  setEgress(egress: Egress | undefined): void {
    this.#outbound.setEgress(egress);
  }

  /**
   * Asks the policy's guards about what the rules allow; for whoever judges whole URLs. A deny is handed back as it is.
   * Never rejects.
   */
  narrow(decision: Decision, question: GuardQuestion): Promise<Decision> {
    return this.#outbound.narrow(decision, question);
  }

  /**
   * A connection of our own, by the same rules as Chrome's and counted with them. The caller owns the socket, which
   * is paused and half-open capable; it is destroyed when the policy no longer lets it through.
   * @throws {AirlockError} policy_denied, timeout, cancelled, floor_down, navigation_failed (with `netError`)
   */
  async connect(host: string, port: number, signal: AbortSignal): Promise<Socket> {
    const closing = this.#closing.signal;
    try {
      closing.throwIfAborted();
      return (await this.#open(host, port, { signal: AbortSignal.any([signal, closing]) })).socket;
    } catch (error) {
      if (closing.aborted) throw new AirlockError('floor_down', 'the floor is closed', { cause: error });
      throw toAirlockError(error);
    }
  }

  /**
   * Resolves when Chrome asks for exactly `host`, which is never connected to nor written to the log: the proof, at a
   * session's birth, that its Chrome uses this floor. Call it before Chrome is sent there.
   * @throws {AirlockError} cancelled, floor_down
   */
  expectHost(host: string, signal: AbortSignal): Promise<void> {
    return this.#canary.expect(host, signal);
  }

  /** From now on the log is the user's: what was decided while Chrome was being prepared is forgotten. */
  openToUser(): void {
    this.log.clear();
  }

  /**
   * Serves the connections of a listener in Chrome's own network namespace too. Nobody else is there, so they are not
   * asked whose they are. It is closed with the floor.
   */
  serveAlso(listener: Server): void {
    const server = this.#serve(undefined);
    this.#fallWith(server);
    server.listen(listener);
    if (this.#closed !== undefined) server.close();
  }

  /** Calls `listener` once when the floor ends without having been closed. */
  onDown(listener: (error: Error) => void): () => void {
    this.#downListeners.add(listener);
    return () => {
      this.#downListeners.delete(listener);
    };
  }

  /** Ends the floor as a fault would: connections are reset, the port is closed, `onDown` is told. */
  fail(error: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = this.#shutDown();
    for (const listener of this.#downListeners) listener(error);
  }

  /** Closes the port and every connection; resolves when they are gone. Can be called again. */
  close(): Promise<{ connectionsClosed: number }> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #listen(): Promise<void> {
    const { peerPids } = this.#options;
    this.#peer = peerPids && new PeerCheck(peerPids);
    const server = this.#serve(this.#peer);
    try {
      this.#address = await listenOnLoopback(server, this.#options.address);
    } catch (error) {
      await this.#outbound[Symbol.asyncDispose]();
      throw new AirlockError('floor_down', 'no loopback port can be opened', { cause: error });
    }
    const bound = server.address();
    this.#port = bound !== null && typeof bound === 'object' ? bound.port : 0;
    this.#options.self.add(this.#port);
    this.#watchBytes();
    this.#fallWith(server);
  }

  #fallWith(server: Server): void {
    server.on('error', (error) => {
      // Out of descriptors for one connection is not the end; a listener that has stopped is.
      if (!server.listening) this.fail(error);
    });
    server.on('close', () => this.fail(new Error('the listener was closed')));
  }

  /** Learns who may connect, ahead of the first connection. A list that cannot be had now is made then. */
  async preparePeers(): Promise<void> {
    await this.#peer?.prepare().catch(ignoreError);
  }

  #serve(peer: PeerCheck | undefined): Server {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    server.maxConnections = this.#caps.connections;
    server.on('connection', (client) => this.#accept(client, peer));
    this.#servers.push(server);
    return server;
  }

  #accept(client: Socket, peer: PeerCheck | undefined): void {
    this.#accepted += 1;
    this.#clients.add(client);
    client.on('error', ignoreError);
    client.once('close', () => this.#clients.delete(client));
    // Never rejects; should it do so all the same, the connection must not stay.
    serveConnection(client, {
      peer,
      handshakeMs: this.#caps.handshakeMs,
      idleMs: this.#caps.idleMs,
      isCanary: (host) => this.#canary.saw(host),
      onBadHost: (host) => this.#outbound.refuse(host),
      open: async (host, port, signal) => {
        try {
          return await this.#open(host, port, { signal, bulk: true });
        } catch (error) {
          this.failures.record(host, port, error);
          throw error;
        }
      },
    }).catch(() => client.destroy());
  }

  async #open(host: string, port: number, options: OpenOptions): Promise<Link> {
    if (this.#spent()) this.#denySpent(host, port);
    this.suspension.check();
    const link = await this.#outbound.open(host, port, options);
    if (this.suspension.on) {
      link.socket.destroy();
      this.suspension.check();
    }
    if (this.#closing.signal.aborted) {
      link.socket.destroy();
      throw new DialError('cancelled', 'the floor was closed');
    }
    this.#keep(link);
    return link;
  }

  #spent(): boolean {
    const { bytesIn, bytesOut } = this.counters;
    return bytesIn + bytesOut >= this.#caps.bytes;
  }

  #denySpent(host: string, port: number): never {
    const decision = deny('rule', { rule: `at most ${this.#caps.bytes} bytes for a session` });
    const target = `${host}:${port}`;
    this.log.record({ stage: 'host', target, decision });
    throw new DeniedError(target, 'host', decision);
  }

  #watchBytes(): void {
    if (this.#caps.bytes === Number.POSITIVE_INFINITY) return;
    this.#byteWatch = setInterval(() => {
      if (!this.#spent()) return;
      for (const { socket } of this.#links) socket.resetAndDestroy();
    }, 1000);
    this.#byteWatch.unref();
  }

  #keep(link: Link): void {
    this.#links.add(link);
    link.socket.once('close', () => {
      this.#links.delete(link);
      this.#bytesIn += link.socket.bytesRead;
      this.#bytesOut += link.socket.bytesWritten;
    });
  }

  async #shutDown(): Promise<{ connectionsClosed: number }> {
    this.#closing.abort();
    clearInterval(this.#byteWatch);
    this.#canary.close();
    const disposed = this.#outbound[Symbol.asyncDispose]();
    const sockets = [...this.#clients, ...[...this.#links].map(({ socket }) => socket)];
    const connectionsClosed = this.#clients.size;
    const gone = sockets.map(closed);
    for (const socket of sockets) reset(socket);
    const stopped = this.#servers.map(stop);
    await Promise.all([...gone, ...stopped, disposed]);
    this.#options.self.remove(this.#port);
    return { connectionsClosed };
  }
}

/** Resolves when the port is closed, also when it never was open. */
function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** Resolves at `close`. Not `once`, which an error on the way there would make reject. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** A broken connection is followed by `close`, and that is where it is dealt with. */
function ignoreError(): void {
  return;
}
