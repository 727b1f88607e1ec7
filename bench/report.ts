import { readFile, writeFile } from 'node:fs/promises';
import type { Machine } from './machine.ts';
import { isMet, type RowResult, type Verdict } from './row.ts';
import { median, quantile } from './statistics.ts';

/** One row as it is written: the samples are summed up. */
export interface RowRecord {
  readonly number: number;
  readonly title: string;
  readonly measuredAt: string;
  readonly commit: string;
  /** Load of the machine before and after. */
  readonly load: readonly [number, number];
  readonly series: readonly { name: string; unit: string; n: number; median: number; p95: number }[];
  readonly verdicts: readonly (Verdict & { met?: boolean })[];
  readonly notes: readonly string[];
}

export interface Results {
  readonly machine: Machine;
  readonly rows: readonly RowRecord[];
}

export function record(
  about: Pick<RowRecord, 'number' | 'title' | 'measuredAt' | 'commit' | 'load'>,
  result: RowResult,
): RowRecord {
  return {
    ...about,
    series: result.series.map(({ name, unit, samples }) => ({
      name,
      unit,
      n: samples.length,
      median: median(samples),
      p95: quantile(samples, 0.95),
    })),
    verdicts: result.verdicts.map((verdict) => {
      const met = isMet(verdict);
      return { ...verdict, ...(met === undefined ? {} : { met }) };
    }),
    notes: result.notes ?? [],
  };
}

/** New rows take the place of old ones of the same number; those of another machine go. */
export function merge(old: Results | undefined, now: Results): Results {
  const kept = old !== undefined && sameMachine(old.machine, now.machine) ? old.rows : [];
  const numbers = new Set(now.rows.map((row) => row.number));
  const rows = [...kept.filter((row) => !numbers.has(row.number)), ...now.rows];
  return { machine: now.machine, rows: rows.sort((a, b) => a.number - b.number) };
}

function sameMachine(a: Machine, b: Machine): boolean {
  return a.cpu === b.cpu && a.cores === b.cores && a.memoryGiB === b.memoryGiB && a.chrome === b.chrome;
}

/** The results of an earlier run; undefined where there are none that can be read. */
export async function readResults(file: string): Promise<Results | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isResults(value) ? value : undefined;
  } catch {
    return undefined; // the first run, or a file that somebody changed: this run writes a new one
  }
}

function isResults(value: unknown): value is Results {
  return typeof value === 'object' && value !== null && 'machine' in value && 'rows' in value;
}

/** Writes `<base>.json` and `<base>.md`. */
export async function writeResults(base: string, results: Results): Promise<void> {
  await writeFile(`${base}.json`, `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(`${base}.md`, markdown(results));
}

/** The table for people. */
export function markdown({ machine, rows }: Results): string {
  const facts = [
    `${machine.cores} cores (${machine.cpu})`,
    `${machine.memoryGiB} GiB`,
    `Linux ${machine.kernel}`,
    `Chrome ${machine.chrome} (${machine.chromePath})`,
    `Node ${machine.node}`,
    `puppeteer-core ${machine.puppeteer}`,
    `playwright-core ${machine.playwright}`,
    `chromedriver ${machine.chromedriver}`,
  ];
  const head = ['#', 'work', 'medians (p95)', 'figure', 'value', 'target', ''];
  const lines = [head, head.map(() => '---'), ...rows.flatMap(tableLines)].map(
    (cells) => `| ${cells.join(' | ')} |`,
  );
  const notes = rows.flatMap((row) => row.notes.map((note) => `- ${row.number}: ${note}`));
  const runs = rows.map(
    ({ number, measuredAt, commit, load: [before, after] }) =>
      `${number}: ${measuredAt.slice(0, 16).replace('T', ' ')} UTC, ${commit}, load ${before.toFixed(1)} → ${after.toFixed(1)}`,
  );
  return `# Results

${facts.join(', ')}. Ratios are medians of the ratios of paired rounds, the middle half in brackets.

${lines.join('\n')}

${notes.join('\n')}

Measured (row: time, commit, load of the machine):

${runs.map((run) => `- ${run}`).join('\n')}
`;
}

function tableLines(row: RowRecord): string[][] {
  const medians = row.series.map(
    ({ name, unit, median: m, p95 }) => `${name} ${figure(m)} (${figure(p95)}) ${unit}`,
  );
  const verdicts: readonly (RowRecord['verdicts'][number] | undefined)[] =
    row.verdicts.length === 0 ? [undefined] : row.verdicts;
  return verdicts.map((verdict, i) => [
    i === 0 ? String(row.number) : '',
    i === 0 ? row.title : '',
    i === 0 ? medians.join('<br>') : '',
    ...(verdict === undefined ? ['', '', '', ''] : verdictCells(verdict)),
  ]);
}

function verdictCells({ name, value, spread, unit, target, met }: RowRecord['verdicts'][number]): string[] {
  const middle = spread === undefined ? '' : ` [${figure(spread[0])}–${figure(spread[1])}]`;
  const wanted =
    target === undefined
      ? ''
      : 'atMost' in target
        ? `≤ ${figure(target.atMost)}`
        : `≥ ${figure(target.atLeast)}`;
  const mark = met === undefined ? '' : met ? 'met' : '**missed**';
  return [name, `${figure(value)}${unit === undefined ? '' : ` ${unit}`}${middle}`, wanted, mark];
}

/** Three digits that mean something. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 10_000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  return String(Number(value.toPrecision(3)));
}
