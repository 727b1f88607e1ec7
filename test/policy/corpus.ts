import { existsSync, readFileSync } from 'node:fs';
import { decideAll, decideHost, decideUrl, type SelfCheck } from '../../src/policy/decide.ts';
import type { Decision } from '../../src/policy/decision.ts';
import type { Policy } from '../../src/policy/policy.ts';

/** Files of the corpus: the copy beside the tests, and the original where it is at hand. */
export function corpusFiles(name: string): readonly string[] {
  const copy = new URL(`../fixtures/policy/${name}`, import.meta.url).pathname;
  const original = new URL(`../../../shared/corpus/${name}`, import.meta.url).pathname;
  return existsSync(original) ? [copy, original] : [copy];
}

/** The rows of a tab-separated file, comments and blank lines left out. */
export function rowsOf(file: string): readonly (readonly string[])[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'));
}

/** The body of a JSON string, as text. */
export function unescaped(body: string): string {
  return String(JSON.parse(`"${body}"`));
}

export interface Answered {
  readonly decision: Decision;
  /** DNS would have been asked. */
  readonly asked: boolean;
}

/** What becomes of a navigation and the connection behind it, the resolver being a list of answers. */
export function runUrl(url: string, answers: readonly string[], policy: Policy, self: SelfCheck): Answered {
  const decision = decideUrl(url, policy, { use: 'navigation', self });
  if (decision.verdict === 'deny') return { decision, asked: false };
  const { hostname, port, protocol } = new URL(url);
  const effective = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  return runHost(hostname, effective, answers, policy, self);
}

/** What becomes of a SOCKS request. */
export function runHost(
  host: string,
  port: number,
  answers: readonly string[],
  policy: Policy,
  self: SelfCheck,
): Answered {
  const first = decideHost(host, port, policy, { self });
  if (first.verdict === 'deny') return { decision: first, asked: false };
  const addresses = first.needsResolution ? answers : first.addresses;
  return { decision: decideAll(host, addresses, port, policy, { self }), asked: first.needsResolution };
}
