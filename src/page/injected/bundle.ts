import { installApi } from './api.ts';
import { domReaders } from './dom.ts';
import { finders } from './find.ts';
import { hostRules } from './hosts.ts';
import { lineBuffer } from './lines.ts';
import { nameRules } from './names.ts';
import { printer } from './printer.ts';
import { queries } from './query.ts';
import { refTable } from './refs.ts';
import { roleRules } from './roles.ts';
import { sheetReaders } from './sheets.ts';
import { stateRules } from './states.ts';
import { styleReaders } from './style.ts';
import { textRules } from './text.ts';
import { walker } from './walk.ts';

/** A part of the injected code: one function that is given the parts it names, in this order. */
interface Part {
  name: string;
  // The signature differs for each part and is checked where the part is written; here only its text matters.
  make: { toString(): string };
  needs: string[];
}

const parts: Part[] = [
  { name: 'dom', make: domReaders, needs: [] },
  { name: 'hosts', make: hostRules, needs: ['dom'] },
  { name: 'text', make: textRules, needs: [] },
  { name: 'sheets', make: sheetReaders, needs: ['dom'] },
  { name: 'styles', make: styleReaders, needs: ['dom', 'sheets'] },
  { name: 'roles', make: roleRules, needs: ['dom'] },
  { name: 'names', make: nameRules, needs: ['dom', 'styles', 'roles', 'text'] },
  { name: 'states', make: stateRules, needs: ['dom', 'text'] },
  { name: 'refs', make: refTable, needs: ['dom'] },
  { name: 'printer', make: printer, needs: ['dom', 'styles', 'roles', 'names', 'states', 'refs', 'text'] },
  { name: 'find', make: finders, needs: ['dom', 'styles', 'roles', 'names', 'text', 'printer'] },
  {
    name: 'query',
    make: queries,
    needs: ['dom', 'styles', 'roles', 'names', 'states', 'refs', 'text', 'printer', 'find'],
  },
];

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
  const lines = parts.map(
    ({ name, make, needs }) => `const ${name} = (${make.toString()})(${needs.join(', ')});`,
  );
  lines.push(`const newLines = () => (${lineBuffer.toString()})(styles, text, refs);`);
  lines.push(`const walk = (${walker.toString()})(dom, styles, roles, printer, hosts, newLines);`);
  lines.push(
    `return (${installApi.toString()})(dom, styles, sheets, text, names, states, refs, hosts, walk, query);`,
  );
  // The page cannot see the globals of an isolated world, so the name needs no disguise.
  return `globalThis.airlock ??= (() => {\n${lines.join('\n')}\n})()`;
}
