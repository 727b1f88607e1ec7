import { AirlockError } from '../errors.ts';
import type { DecisionView, Operation } from './operation.ts';
import { withoutUser } from './shown-url.ts';
import type { Tab } from './tab.ts';

/**
 * Chrome's net errors after which the same request may succeed later, unchanged (Chromium
 * `net/base/net_error_list.h`): the network, the peer or the resolver was at fault, not the request.
 */
const TRANSIENT = new Set([
  'ERR_FAILED',
  'ERR_ABORTED',
  'ERR_TIMED_OUT',
  'ERR_CONNECTION_TIMED_OUT',
  'ERR_CONNECTION_RESET',
  'ERR_CONNECTION_REFUSED',
  'ERR_CONNECTION_CLOSED',
  'ERR_CONNECTION_ABORTED',
  'ERR_CONNECTION_FAILED',
  'ERR_EMPTY_RESPONSE',
  'ERR_NETWORK_CHANGED',
  'ERR_NETWORK_IO_SUSPENDED',
  'ERR_INTERNET_DISCONNECTED',
  'ERR_ADDRESS_UNREACHABLE',
  'ERR_NAME_NOT_RESOLVED',
  'ERR_NAME_RESOLUTION_FAILED',
  'ERR_DNS_TIMED_OUT',
  'ERR_DNS_SERVER_FAILED',
  'ERR_SOCKS_CONNECTION_FAILED',
  'ERR_SOCKS_CONNECTION_HOST_UNREACHABLE',
  'ERR_PROXY_CONNECTION_FAILED',
  'ERR_TUNNEL_CONNECTION_FAILED',
  'ERR_INCOMPLETE_CHUNKED_ENCODING',
  'ERR_CONTENT_LENGTH_MISMATCH',
  'ERR_HTTP2_PROTOCOL_ERROR',
  'ERR_HTTP2_PING_FAILED',
  'ERR_INSUFFICIENT_RESOURCES',
]);

/** Answers that Chrome shows as an error page of its own although the server gave a status. */
const STATUS_ERRORS = new Set(['ERR_INVALID_AUTH_CREDENTIALS', 'ERR_HTTP_RESPONSE_CODE_FAILURE']);

/** What the guard and managed policies fail a request with; never the fault of the network. */
const BLOCKED = new Set(['ERR_BLOCKED_BY_CLIENT', 'ERR_BLOCKED_BY_ADMINISTRATOR']);

function code(netError: string): string {
  return netError.replace(/^net::/, '');
}

/** True for an error page that stands for an HTTP status: a 401 without credentials, a 404 or 500 without a body. */
export function standsForStatus(netError: string): boolean {
  return STATUS_ERRORS.has(code(netError));
}

export function isRetryable(netError: string): boolean {
  return TRANSIENT.has(code(netError));
}

/**
 * The error of a load that failed: `policy_denied` with the decision where the policy caused it, else
 * `navigation_failed` with Chrome's code.
 * @param urls every address of the load, redirects included; the last is the one that failed
 */
export function loadError(op: Operation, netError: string, urls: readonly string[]): AirlockError {
  const url = urls.at(-1) ?? '';
  const decision = causingDenial(op, netError, urls);
  if (decision) return policyDenied(url, decision);
  const failure = behindProxy(op, netError, urls);
  const told = failure?.netError ?? netError;
  const why = failure ? ` (${failure.detail})` : '';
  return new AirlockError('navigation_failed', `${code(told)} at ${url}${why}`, {
    extra: { netError: told, url },
    retryable: isRetryable(told),
  });
}

/** Chrome sees that its proxy, the floor, made no connection; the floor knows why. */
function behindProxy(
  op: Operation,
  netError: string,
  urls: readonly string[],
): { netError: string; detail: string } | undefined {
  if (!/^ERR_(?:SOCKS|PROXY)_CONNECTION/.test(code(netError))) return undefined;
  const host = hostOf(urls.at(-1) ?? '');
  return op.env.failuresSince?.(op.startedAt).findLast(({ target }) => hostOf(target) === host);
}

export function policyDenied(url: string, decision: DecisionView): AirlockError {
  const shown = withoutUser(url);
  return new AirlockError('policy_denied', `The policy denies ${shown}: ${decision.reason}`, {
    extra: { decision, url: shown },
  });
}

/** The denial that ended a load of the tab's own page on its way, or took it away when it came, while `op` was running. */
export function refusal(op: Operation, { refusedLoad }: Tab = op.tab): AirlockError | undefined {
  if (refusedLoad === undefined || refusedLoad.at < op.startedAt) return undefined;
  return policyDenied(refusedLoad.url, refusedLoad.decision);
}

function causingDenial(op: Operation, netError: string, urls: readonly string[]): DecisionView | undefined {
  const denials = op.env.denialsSince(op.startedAt);
  const hosts = new Set(urls.map(hostOf).filter((host) => host !== ''));
  const matching = denials.findLast((denial) => hosts.has(hostOf(denial.target)));
  if (matching) return matching;
  if (!BLOCKED.has(code(netError))) return undefined;
  // Blocked on the way to an address that Chrome never told us: the newest denial is the cause.
  return denials.at(-1) ?? { verdict: 'deny', reason: 'guard', target: urls.at(-1) ?? '' };
}

/** The host of a URL, of `host:port` or of a bare host, without brackets, lower case; `''` where there is none. */
function hostOf(target: string): string {
  const url = URL.parse(target);
  const host = url?.host ? url.hostname : URL.parse(`http://${target}/`)?.hostname;
  return (host ?? '').replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
