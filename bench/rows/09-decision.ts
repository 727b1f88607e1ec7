import { decideHost, decideUrl } from '../../src/policy/decide.ts';
import type { Verdict as PolicyVerdict } from '../../src/policy/decision.ts';
import { type Policy, parsePolicy } from '../../src/policy/policy.ts';
import { SelfRegistry } from '../../src/policy/self.ts';
import type { Bench } from '../bench.ts';
import { check } from '../json-client.ts';
import { alternate } from '../measure.ts';
import type { Row } from '../row.ts';
import { median } from '../statistics.ts';

/** What a page of many parts asks again and again. */
const URLS = Array.from({ length: 500 }, (_, i) => `https://host${i % 50}.example.com/path/${i}?q=${i}`);
const HOSTS = Array.from({ length: 50 }, (_, i) => `host${i}.example.com`);

/** The pure function alone, in this process: a policy of 100 rules, questions that were asked before. */
export const decision: Row = {
  number: 9,
  title: 'a policy decision, warm',
  async run(bench: Bench) {
    const turns = bench.some(1000, 20);
    const policy = parsePolicy({
      mode: 'allowlist',
      allow: ['*.example.com', ...Array.from({ length: 60 }, (_, i) => `allowed${i}.example.org`)],
      deny: Array.from({ length: 39 }, (_, i) => `*.denied${i}.example.com`),
    });
    const self = new SelfRegistry();
    const samples = await alternate(
      bench,
      {
        url: async () =>
          perSecond(URLS.length * turns, () => {
            for (let i = 0; i < turns; i++) {
              for (const url of URLS) allowed(decideUrl(url, policy, { self, use: 'subresource' }).verdict);
            }
          }),
        host: async () =>
          perSecond(HOSTS.length * turns * 10, () => {
            for (let i = 0; i < turns * 10; i++) {
              for (const host of HOSTS) allowed(decideHost(host, 443, policy, { self }).verdict);
            }
          }),
        cold: async () => cold(bench, policy, self),
      },
      { rounds: bench.some(9, 2), warmUp: 1 },
    );
    return {
      series: [
        { name: 'by URL', unit: 'per second', samples: samples.url },
        { name: 'by host', unit: 'per second', samples: samples.host },
        { name: 'by URL, never asked before', unit: 'per second', samples: samples.cold },
      ],
      verdicts: [
        { name: 'by URL', value: median(samples.url), unit: 'per second', target: { atLeast: 1_000_000 } },
        { name: 'by host', value: median(samples.host), unit: 'per second', target: { atLeast: 1_000_000 } },
      ],
    };
  },
};

let asked = 0;

function cold(bench: Bench, policy: Policy, self: SelfRegistry): number {
  const count = bench.some(50_000, 1000);
  const urls = Array.from({ length: count }, () => {
    asked += 1;
    return `https://new${asked}.example.com/${asked}`;
  });
  return perSecond(count, () => {
    for (const url of urls) allowed(decideUrl(url, policy, { self, use: 'subresource' }).verdict);
  });
}

function perSecond(count: number, work: () => void): number {
  const start = performance.now();
  work();
  return (count / (performance.now() - start)) * 1000;
}

function allowed(verdict: PolicyVerdict): void {
  check(verdict === 'allow', 'a decision is wrong');
}
