import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/processes.ts';
import { engines, installed } from '../../support/real-chrome.ts';
import { TestService } from '../../support/service.ts';
import { WebServer } from '../../support/web-server.ts';
import { attemptAll, attemptsOf, attemptsPages } from './attempts.ts';
import { startSite } from './site.ts';

/** The target of each attempt has a host of its own, so that log and canary tell which it was. */
const canary = await WebServer.start();
const site = await startSite(attemptsPages(`http://NAME.localhost:${canary.port}/x`));
let service: TestService;
beforeAll(async () => {
  service = await TestService.start([
    ...['--allow', `localhost:${site.port}`],
    ...['--allow', `*.localhost:${canary.port}`],
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await canary[Symbol.asyncDispose]();
});

/** Names of attempts, from the hosts that the decisions are about. */
async function decided(session: string, verdict: string): Promise<Set<string>> {
  const { body } = await service.get(`${session}/policy/decisions?verdict=${verdict}&limit=2000`);
  const targets: string[] = body.decisions.map(({ target }: { target: string }) => target);
  return new Set(targets.map((target) => target.replace(/^\w+:\/\//, '').split('.')[0] ?? ''));
}

/** Polls until no attempt of the engine is missing from what `seen` reads. */
async function untilAll(engine: string, seen: () => Promise<Set<string>>): Promise<void> {
  const missing = async () => {
    const names = await seen();
    return attemptsOf(engine).flatMap(({ name }) => (names.has(name) ? [] : [name]));
  };
  await eventually(missing, (names) => names.length === 0, 60_000);
}

describe.for(engines.map((engine) => ({ engine, path: installed(engine) })))(
  '$engine',
  { timeout: 180_000 },
  ({ engine, path }) => {
    test.skipIf(path === undefined)('every attempt is one: it arrives where it is allowed', async () => {
      canary.clear();
      const session = await service.session({ engine });
      await attemptAll(service, session, site);
      await untilAll(engine, async () => {
        const arrived = canary.requests.map((line) => line.replace(/^\w+ /, '').split('.')[0] ?? '');
        return new Set(arrived);
      });
      await service.delete(session);
    });

    test.skipIf(path === undefined)('none arrives where it is denied, and each is in the log', async () => {
      canary.clear();
      const session = await service.session({ engine, policy: { deny: [`*.localhost:${canary.port}`] } });
      await attemptAll(service, session, site);
      await untilAll(engine, () => decided(session, 'deny'));
      await service.delete(session);
      expect([canary.connections, canary.requests]).toEqual([0, []]);
    });
  },
);
