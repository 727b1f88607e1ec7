/** Line plots as SVG, made to be read at a glance: every line is named at its end, and there is no legend to look up. */
import { linearScale, logScale, type Scale } from './scale.ts';
import type { Point } from './statistics.ts';

export interface Axis {
  readonly label: string;
  readonly scale: 'linear' | 'log';
}

export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
  /** A reference, not a measurement: what linear growth would be. */
  readonly dashed?: boolean;
}

/** One pair of axes. */
export interface Panel {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
}

/** Told apart by people who do not see red and green alike (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00'];
const WIDTH = 560;
const HEIGHT = 340;
/** Room around the plane: for the names of lines on the right, for ticks and labels elsewhere. */
const SPACE = { left: 78, right: 150, top: 42, bottom: 52 };
const PLANE = { width: WIDTH - SPACE.left - SPACE.right, height: HEIGHT - SPACE.top - SPACE.bottom };
const HEAD = 56;
const NAME_HEIGHT = 14;
/** With more points than this the line says enough. */
const MOST_DOTS = 25;

/** An SVG of panels, two in a row. `note` is a line under the title. */
export function plot(title: string, note: string, panels: readonly Panel[]): string {
  const columns = Math.min(2, panels.length);
  const width = WIDTH * columns;
  const height = HEAD + HEIGHT * Math.ceil(panels.length / columns);
  const placed = panels.map((panel, i) => {
    const x = (i % columns) * WIDTH;
    const y = HEAD + Math.floor(i / columns) * HEIGHT;
    return `<g transform="translate(${x} ${y})">${drawPanel(panel)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#222" role="img">
<title>${xml(title)}</title>
<rect width="${width}" height="${height}" fill="#fff"/>
${text(SPACE.left, 24, title, 'font-size="17" font-weight="600"')}
${text(SPACE.left, 43, note, 'fill="#666"')}
${placed.join('\n')}
</svg>
`;
}

function drawPanel(panel: Panel): string {
  const points = panel.lines.flatMap((line) => line.points);
  const x = scaleOf(
    panel.x,
    points.map(([value]) => value),
  );
  const y = scaleOf(
    panel.y,
    points.map(([, value]) => value),
  );
  const toX = (value: number) => SPACE.left + x.at(value) * PLANE.width;
  const toY = (value: number) => SPACE.top + (1 - y.at(value)) * PLANE.height;
  const bottom = SPACE.top + PLANE.height;
  const middle = SPACE.top + PLANE.height / 2;
  const right = SPACE.left + PLANE.width;
  const vertical = x.ticks.map(
    (tick) =>
      `<path d="M${px(toX(tick))} ${SPACE.top}V${bottom}" stroke="#e4e4e4"/>${text(toX(tick), bottom + 17, number(tick), 'text-anchor="middle"')}`,
  );
  const horizontal = y.ticks.map(
    (tick) =>
      `<path d="M${SPACE.left} ${px(toY(tick))}H${right}" stroke="#e4e4e4"/>${text(SPACE.left - 7, toY(tick) + 4, number(tick), 'text-anchor="end"')}`,
  );
  return [
    text(SPACE.left, SPACE.top - 14, panel.title, 'font-size="14" font-weight="600"'),
    ...vertical,
    ...horizontal,
    `<path d="M${SPACE.left} ${SPACE.top}V${bottom}H${right}" fill="none" stroke="#888"/>`,
    text(SPACE.left + PLANE.width / 2, bottom + 38, panel.x.label, 'text-anchor="middle" fill="#444"'),
    `<g transform="rotate(-90 16 ${middle})">${text(16, middle, panel.y.label, 'text-anchor="middle" fill="#444"')}</g>`,
    ...drawLines(panel.lines, toX, toY),
  ].join('\n');
}

function drawLines(
  lines: readonly Line[],
  toX: (value: number) => number,
  toY: (value: number) => number,
): string[] {
  const shown = lines.filter((line) => line.points.length > 0);
  const names = spread(shown.map((line) => toY(line.points.at(-1)?.[1] ?? 0)));
  return shown.flatMap((line, i) => {
    const colour = line.dashed ? '#999' : (COLOURS[i % COLOURS.length] ?? '#000');
    const path = line.points.map(([x, y], n) => `${n === 0 ? 'M' : 'L'}${px(toX(x))} ${px(toY(y))}`).join('');
    const dash = line.dashed ? ' stroke-dasharray="5 4"' : '';
    const dots =
      line.dashed || line.points.length > MOST_DOTS
        ? []
        : line.points.map(
            ([x, y]) => `<circle cx="${px(toX(x))}" cy="${px(toY(y))}" r="3.2" fill="${colour}"/>`,
          );
    const nameX = SPACE.left + PLANE.width + 9;
    return [
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${line.dashed ? 1.3 : 2}" stroke-linejoin="round"${dash}/>`,
      ...dots,
      text(nameX, (names[i] ?? 0) + 4, line.name, `fill="${colour}" font-weight="600"`),
    ];
  });
}

/** Moves the names of lines that end close together apart, and keeps them inside of the plane. */
function spread(wanted: readonly number[]): number[] {
  const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  let last = Number.NEGATIVE_INFINITY;
  for (const name of order) {
    name.y = Math.max(name.y, last + NAME_HEIGHT);
    last = name.y;
  }
  const over = Math.max(0, last - (SPACE.top + PLANE.height));
  let next = Number.POSITIVE_INFINITY;
  for (const name of order.toReversed()) {
    name.y = over > 0 ? Math.min(name.y, SPACE.top + PLANE.height, next - NAME_HEIGHT) : name.y;
    next = name.y;
  }
  return order.sort((a, b) => a.i - b.i).map(({ y }) => y);
}

function scaleOf(axis: Axis, values: readonly number[]): Scale {
  const usable = values.length === 0 ? [1] : values;
  return axis.scale === 'log' ? logScale(usable) : linearScale(usable);
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${px(x)}" y="${px(y)}" ${attributes}>${xml(content)}</text>`;
}

function number(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 6 }).replaceAll(',', ' ');
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function xml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
