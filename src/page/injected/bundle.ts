import { installApi } from './api.ts';
import { type Dom, domReaders } from './dom.ts';
import { type Finders, finders } from './find.ts';
import { type TextFinder, textFinder } from './find-text.ts';
import { type Hosts, hostRules } from './hosts.ts';
import { type Lines, lineBuffer } from './lines.ts';
import { type Names, nameRules } from './names.ts';
import { type Printer, printer } from './printer.ts';
import { type Queries, queries } from './query.ts';
import { type Refs, refTable } from './refs.ts';
import { type Rests, restingBoxes } from './rests.ts';
import { type Roles, roleRules } from './roles.ts';
import { type Sheets, sheetReaders } from './sheets.ts';
import { type States, stateRules } from './states.ts';
import { type Styles, styleReaders } from './style.ts';
import { type TextRules, textRules } from './text.ts';
import { type Walker, walker } from './walk.ts';

/** What each part is given: all the parts made before it, of which it takes what it names. */
export interface Parts {
  dom: Dom;
  hosts: Hosts;
  text: TextRules;
  sheets: Sheets;
  styles: Styles;
  roles: Roles;
  names: Names;
  states: States;
  refs: Refs;
  rests: Rests;
  printer: Printer;
  findText: TextFinder;
  find: Finders;
  queries: Queries;
  newLines: () => Lines;
  walk: Walker;
}

/** The parts in the order in which they are made. */
const parts: { [Name in Exclude<keyof Parts, 'newLines'>]: (made: Parts) => Parts[Name] } = {
  dom: domReaders,
  hosts: hostRules,
  text: textRules,
  sheets: sheetReaders,
  styles: styleReaders,
  roles: roleRules,
  names: nameRules,
  states: stateRules,
  refs: refTable,
  rests: restingBoxes,
  printer,
  findText: textFinder,
  find: finders,
  queries,
  walk: walker,
};

let source: string | undefined;

/**
 * The code to evaluate in the isolated world of a frame. Its value is the `InjectedApi` object of that world: made on
 * the first evaluation, the same object on every later one.
 */
export function injectedSource(): string {
  source ??= compose();
  return source;
}

/** Each part is a function without imports, so its text is all there is to it; Node has taken the types out already. */
function compose(): string {
  const lines = [`const made = {};`, `made.newLines = () => (${lineBuffer.toString()})(made);`];
  for (const [name, make] of Object.entries(parts)) lines.push(`made.${name} = (${make.toString()})(made);`);
  // Other code of ours is built on the same parts (reading/source.ts).
  lines.push(`return Object.assign((${installApi.toString()})(made), { parts: made });`);
  // The page cannot see the globals of an isolated world, so the name needs no disguise.
  return `globalThis.airlock ??= (() => {\n${lines.join('\n')}\n})()`;
}
