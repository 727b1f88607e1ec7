/**
 * Connections that were allowed and could not be made. Chrome is told by a SOCKS reply, which says little (RFC 1928), and
 * shows `ERR_SOCKS_CONNECTION_FAILED` for nearly all of them; here is what happened.
 */
import { DialError, type DialFault } from './dial.ts';
import { ResolveError, type ResolveFault } from './resolver.ts';

export interface ConnectFailure {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** `host:port`, as Chrome asked for it. */
  readonly target: string;
  /** The name that Chrome has for it where it connects itself (Chromium, net_error_list.h). */
  readonly netError: string;
  /** For a person. */
  readonly detail: string;
}

/** As many as a page may try while an operation runs. */
const KEPT = 200;

export class FailureLog {
  #failures: ConnectFailure[] = [];

  /** Takes what `open` of a floor threw; denials and what was called off are no failures. */
  record(host: string, port: number, error: unknown): void {
    const netError = netErrorOf(error);
    if (netError === undefined || !(error instanceof Error)) return;
    this.#failures.push({ time: Date.now(), target: `${host}:${port}`, netError, detail: error.message });
    if (this.#failures.length > KEPT) this.#failures.shift();
  }

  /** Oldest first. */
  since(time: number): ConnectFailure[] {
    return this.#failures.filter((failure) => failure.time >= time);
  }
}

function netErrorOf(error: unknown): string | undefined {
  if (error instanceof ResolveError) return byResolveFault[error.fault];
  if (!(error instanceof DialError)) return undefined;
  if (error.fault !== 'cancelled' && error.message.startsWith('egress proxy ')) {
    return 'net::ERR_PROXY_CONNECTION_FAILED';
  }
  return byDialFault[error.fault];
}

const byResolveFault: Readonly<Record<ResolveFault, string | undefined>> = {
  not_found: 'net::ERR_NAME_NOT_RESOLVED',
  timeout: 'net::ERR_DNS_TIMED_OUT',
  failed: 'net::ERR_DNS_SERVER_FAILED',
  cancelled: undefined,
};

const byDialFault: Readonly<Record<DialFault, string | undefined>> = {
  refused: 'net::ERR_CONNECTION_REFUSED',
  host_unreachable: 'net::ERR_ADDRESS_UNREACHABLE',
  network_unreachable: 'net::ERR_INTERNET_DISCONNECTED',
  timeout: 'net::ERR_CONNECTION_TIMED_OUT',
  cancelled: undefined,
  wrong_peer: 'net::ERR_CONNECTION_FAILED',
  failed: 'net::ERR_CONNECTION_FAILED',
};
