import { withoutUser } from '../page/shown-url.ts';
import { isNetworkScheme, parseUrl, targetOf } from '../policy/canonical.ts';
import { decideHost, decideUrl, type UrlUse } from '../policy/decide.ts';
import { type Decision, deny } from '../policy/decision.ts';
import type { DecisionStage } from '../policy/decision-log.ts';
import type { Floor } from '../policy/floor.ts';
import { blockedAs, type PausedKind } from '../policy/intercept.ts';
import type { SelfRegistry } from '../policy/self.ts';

export interface UrlRequest {
  /** As Chrome or the caller has it. */
  readonly url: string;
  readonly method: string;
  readonly use: UrlUse;
  /** Id of the tab; undefined for shared and service workers. */
  readonly tab: string | undefined;
}

/** Judges whole URLs by the policy of one session, and writes down what it decides. */
export class UrlJudge {
  readonly #floor: Floor;
  readonly #self: SelfRegistry;

  constructor(floor: Floor, self: SelfRegistry) {
    this.#floor = floor;
    this.#self = self;
  }

  /** What the rules say of a URL that is about to be opened. A denial is recorded; an allow when Chrome asks for it. */
  announce(request: UrlRequest): Decision {
    const decision = this.#decide(request);
    if (decision.verdict === 'deny') this.#record(request, 'url', decision);
    return decision;
  }

  /** What the rules say of a document that Chrome asks for while nobody holds it; recorded either way. */
  witness(request: UrlRequest): Decision {
    const decision = this.#decide(request);
    this.#record(request, 'url', decision);
    return decision;
  }

  /** Whether the floor refuses the host and port of a URL, whatever the rest of it is. */
  endsAtFloor(raw: string): boolean {
    const end = endOf(raw);
    if (end === undefined) return false;
    return decideHost(end.host, end.port, this.#floor.policy, { self: this.#self }).verdict === 'deny';
  }

  /**
   * The verdict on a request that waits for it: blocked kinds, the rules, and for documents the policy's guards. Of
   * sub-resources only denials are recorded here: there may be hundreds on a page, and the floor records where each goes.
   */
  async judge(request: UrlRequest, kind: PausedKind): Promise<Decision> {
    const document = request.use !== 'subresource';
    const blocked = document ? undefined : blockedAs(this.#floor.policy, kind);
    const ruled = blocked === undefined ? this.#decide(request) : deny('rule', { rule: `block: ${blocked}` });
    if (document || ruled.verdict === 'deny') this.#record(request, 'url', ruled);
    return document ? this.#askGuards(request, ruled) : ruled;
  }

  #decide({ url, use, method }: UrlRequest): Decision {
    return decideUrl(url, this.#floor.policy, { self: this.#self, use, method });
  }

  async #askGuards(request: UrlRequest, ruled: Decision): Promise<Decision> {
    const end = endOf(request.url);
    if (ruled.verdict === 'deny' || end === undefined) return ruled;
    const { host, port, url } = end;
    const narrowed = await this.#floor.narrow(ruled, { host, port, url, method: request.method });
    if (narrowed.verdict === 'deny') this.#record(request, 'guard', narrowed);
    return narrowed;
  }

  #record({ url, tab }: UrlRequest, stage: DecisionStage, decision: Decision): void {
    this.#floor.log.record({
      stage,
      target: withoutUser(url),
      decision,
      ...(tab === undefined ? {} : { tab }),
    });
  }
}

/** Where a URL leads, and the URL as a guard is told of it: without its fragment. Undefined for one that leads to no host. */
function endOf(raw: string): { host: string; port: number; url: string } | undefined {
  const url = parseUrl(raw);
  const scheme = url?.protocol.slice(0, -1);
  if (url === undefined || scheme === undefined || !isNetworkScheme(scheme)) return undefined;
  const target = targetOf(url, scheme);
  if (typeof target === 'string') return undefined;
  url.hash = '';
  return { host: target.host.text, port: target.port, url: url.href };
}
