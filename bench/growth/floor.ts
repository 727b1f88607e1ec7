import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type FloorEnd, greeting, requestBytes } from '../../test/support/socks-client.ts';
import type { Bench } from '../bench.ts';
import type { Growth } from '../growths.ts';
import { check } from '../json-client.ts';
import { alternate } from '../measure.ts';
import { plot } from '../plot.ts';
import { median, type Point } from '../statistics.ts';

const AXIS = { label: 'connections at once', scale: 'log' } as const;
const HOST = '127.0.0.1';

interface Way {
  /** Connects, and says how many bytes of the source came behind the handshake. */
  open(): Promise<{ socket: Socket; early: number }>;
}

/** How much the floor carries, and how soon the first byte comes, as connections grow. */
export const floorGrowth: Growth = {
  name: 'growth-floor',
  async run(bench: Bench, dir: string) {
    const { sourcePort } = bench.fixture;
    const worker = new Worker(new URL('./floor-worker.ts', import.meta.url), {
      workerData: `${HOST}:${sourcePort}`,
    });
    try {
      const [floor]: unknown[] = await once(worker, 'message');
      check(isEnd(floor), 'the floor did not start');
      const ways = { floor: throughFloor(floor, sourcePort), direct: straight(sourcePort) };
      const measured = await measure(bench, ways);
      const file = join(dir, 'growth-floor.svg');
      await writeFile(file, draw(measured));
      return [file];
    } finally {
      worker.postMessage('close');
      await once(worker, 'exit');
    }
  },
};

type Side = 'floor' | 'direct';
type Lines = Record<Side, Point[]>;

async function measure(
  bench: Bench,
  ways: Readonly<Record<Side, Way>>,
): Promise<{ speed: Lines; first: Lines }> {
  const speed: Lines = { floor: [], direct: [] };
  const first: Lines = { floor: [], direct: [] };
  const total = bench.some(512, 32) * 1024 * 1024;
  for (const connections of bench.quick ? [1, 16] : [1, 4, 16, 64, 256]) {
    const firsts: Record<Side, number[]> = { floor: [], direct: [] };
    const turn = (side: Side) => async () => {
      const { ms, firstMs } = await drawFrom(ways[side], connections, total / connections);
      firsts[side].push(median(firstMs));
      return total / 1000 / ms;
    };
    const samples = await alternate(
      bench,
      { floor: turn('floor'), direct: turn('direct') },
      { rounds: bench.some(7, 1), warmUp: 1 },
    );
    for (const side of ['floor', 'direct'] as const) {
      speed[side].push([connections, median(samples[side])]);
      first[side].push([connections, median(firsts[side].slice(1))]);
    }
  }
  return { speed, first };
}

/** Opens connections at once and reads `bytes` from each. */
async function drawFrom(
  way: Way,
  connections: number,
  bytes: number,
): Promise<{ ms: number; firstMs: number[] }> {
  const start = performance.now();
  const firstMs: number[] = [];
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const { socket, early } = await way.open();
      let seen = early;
      for await (const chunk of socket) {
        if (seen === early) firstMs.push(performance.now() - start);
        seen += (chunk as Buffer).length;
        if (seen >= bytes) break;
      }
      socket.destroy();
      check(seen >= bytes, `a connection ended after ${seen} of ${bytes} bytes`);
    }),
  );
  return { ms: performance.now() - start, firstMs };
}

function straight(port: number): Way {
  return {
    async open() {
      const socket = connect(port, HOST);
      await once(socket, 'connect');
      return { socket, early: 0 };
    },
  };
}

function throughFloor(floor: FloorEnd, port: number): Way {
  return {
    async open() {
      const socket = connect(floor.port, floor.address);
      await once(socket, 'connect');
      socket.write(greeting);
      let early = await readAtLeast(socket, 2);
      check(early === 2, 'the floor said too much');
      socket.write(requestBytes(HOST, port));
      early = (await readAtLeast(socket, 10)) - 10;
      return { socket, early };
    },
  };
}

/** Reads until there are `count` bytes; gives how many there were. */
async function readAtLeast(socket: Socket, count: number): Promise<number> {
  let seen = 0;
  while (seen < count) {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) await once(socket, 'readable');
    else seen += chunk.length;
  }
  return seen;
}

function draw({ speed, first }: { speed: Lines; first: Lines }): string {
  const lines = (of: Lines) => [
    { name: 'through the floor', points: of.floor },
    { name: 'direct', points: of.direct },
  ];
  return plot('Network floor: cost as connections grow', 'Plain TCP over loopback, 512 MB in all. Medians.', [
    { title: 'Throughput', x: AXIS, y: { label: 'MB per second', scale: 'linear' }, lines: lines(speed) },
    { title: 'First byte', x: AXIS, y: { label: 'milliseconds', scale: 'log' }, lines: lines(first) },
  ]);
}

function isEnd(message: unknown): message is FloorEnd {
  return typeof message === 'object' && message !== null && 'address' in message && 'port' in message;
}
