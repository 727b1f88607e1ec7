import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Service } from './service.ts';
import { usageOf } from './usage.ts';

/** What GET /metrics tells Prometheus. Names are the contract (api.md). */
export class Metrics {
  readonly registry = new Registry();
  readonly #start: Histogram;
  readonly #lane: Histogram;
  readonly #http: Histogram<'method' | 'route' | 'status'>;

  constructor(service: Service) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    const seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
    this.#start = new Histogram({
      name: 'airlock_session_start_seconds',
      help: 'From the request to the ready session',
      buckets: seconds,
      registers,
    });
    this.#lane = new Histogram({
      name: 'airlock_lane_wait_seconds',
      help: 'How long operations wait for their turn',
      buckets: seconds,
      registers,
    });
    this.#http = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Requests by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: seconds,
      registers,
    });
    service.on('opened', (session, startSeconds) => {
      this.#start.observe(startSeconds);
      session.on('turn', (seconds) => this.#lane.observe(seconds));
    });
    addSessionMetrics(service, registers);
    addResidualMetrics(service, registers);
  }

  /** @param route the route pattern, never the path: ids would make a series each */
  answered(method: string, route: string, status: number, seconds: number): void {
    this.#http.observe({ method, route, status: String(status) }, seconds);
  }
}

function addSessionMetrics(service: Service, registers: Registry[]): void {
  const closed = new Counter({
    name: 'airlock_sessions_closed_total',
    help: 'Sessions that ended, by reason',
    labelNames: ['reason'],
    registers,
  });
  const decisions = new Counter({
    name: 'airlock_policy_decisions_total',
    help: 'Decisions of the network policy of ended and open sessions',
    labelNames: ['verdict', 'reason'],
    registers,
  });
  const bytes = new Counter({
    name: 'airlock_floor_bytes_total',
    help: 'Bytes through the network floors',
    labelNames: ['direction'],
    registers,
  });
  service.on('closed', (receipt) => closed.inc({ reason: receipt.reason }));
  service.on('opened', (session) => {
    const { floor } = session.browser;
    session.once('closed', () => {
      const { allowed, deniedBy } = floor.log.counters;
      decisions.inc({ verdict: 'allow', reason: 'ok' }, allowed);
      for (const [reason, count] of Object.entries(deniedBy))
        decisions.inc({ verdict: 'deny', reason }, count);
      bytes.inc({ direction: 'in' }, floor.counters.bytesIn);
      bytes.inc({ direction: 'out' }, floor.counters.bytesOut);
    });
  });
  new Gauge({
    name: 'airlock_sessions',
    help: 'Sessions that are open, and browsers that are held ready',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'open' }, service.list().length);
      this.set({ state: 'pooled' }, service.browsers.pooled);
      this.set({ state: 'waiting' }, service.admission.waiting);
    },
  });
  new Gauge({
    name: 'airlock_chrome_memory_bytes',
    help: 'Proportional set size of the browsers of all sessions',
    registers,
    async collect() {
      const pids = service.list().flatMap(({ browser }) => browser.pid ?? []);
      const usages = await Promise.all(pids.map((pid) => usageOf(pid)));
      this.set(usages.reduce((sum, usage) => sum + usage.memoryBytes, 0));
    },
  });
}

function addResidualMetrics(service: Service, registers: Registry[]): void {
  new Gauge({
    name: 'airlock_residual',
    help: 'What is left of ended sessions: 0 everywhere, or there is a fault',
    labelNames: ['kind'],
    registers,
    async collect() {
      const report = await service.sweeper.report();
      this.set({ kind: 'directories' }, report.markerDirs);
      this.set({ kind: 'litter' }, report.singletonOrphans);
      this.set({ kind: 'processes' }, report.unownedMarkerProcesses);
      this.set({ kind: 'failed_removals' }, service.sweeper.failed.length);
    },
  });
}
