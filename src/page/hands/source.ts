import { aiming } from './aim.ts';
import { GONE, handsApi } from './api.ts';
import { choices } from './choice.ts';
import { fields } from './fields.ts';
import { guards } from './guard.ts';
import { hitTests } from './hit.ts';
import { looking } from './look.ts';
import { owners } from './owner.ts';
import { preparing } from './prepare.ts';
import { primitives } from './primitives.ts';
import { scrolling } from './scrolling.ts';
import { elementStates } from './states.ts';
import { texts } from './text.ts';
import { toggles } from './toggles.ts';

/** A part of the injected code: a function that is given the parts it names, in this order. Only its text is used. */
type Part = readonly [name: string, make: { toString(): string }, needs: string];

const parts: readonly Part[] = [
  ['p', primitives, ''],
  ['states', elementStates, 'p'],
  ['scrolls', scrolling, 'p'],
  ['hits', hitTests, 'p, states'],
  ['aims', aiming, 'p, states, hits, scrolls, api'],
  ['guarding', guards, 'p, hits, api'],
  ['prepares', preparing, 'p, states, aims, guarding, api'],
  ['values', fields, 'p, states'],
  ['typing', texts, 'p, values'],
  ['lists', choices, 'p, values'],
  ['checks', toggles, 'p, api'],
  ['looks', looking, 'p, states, checks, api'],
  ['frames', owners, 'p, hits, scrolls, api'],
];

let source: string | undefined;

/**
 * The code that gives an isolated world its hands: `globalThis.airlockHands`, made once for each document. The world
 * must have `globalThis.airlock` already (injected/bundle.ts).
 */
export function handsSource(): string {
  source ??= compose();
  return source;
}

function compose(): string {
  const lines = parts.map(([name, make, needs]) => `const ${name} = (${make.toString()})(${needs});`);
  const all = 'p, api, prepares, guarding, values, typing, lists, checks, scrolls, frames, hits, looks';
  lines.push(`return (${handsApi.toString()})(${all}, ${JSON.stringify(GONE)});`);
  return `globalThis.airlockHands ??= (() => {\nconst api = globalThis.airlock;\n${lines.join('\n')}\n})()`;
}
