import { readerApi } from './injected/api.ts';
import { cleanReader } from './injected/clean.ts';
import { extractor } from './injected/extract.ts';
import { factReader } from './injected/facts.ts';
import { linkReader } from './injected/links.ts';
import { markupReader } from './injected/markup.ts';
import { paintedWalk } from './injected/painted.ts';
import { pieceBuffer } from './injected/pieces.ts';
import { textReader } from './injected/text.ts';

/** Each is given all the parts made before it, and those of injected/bundle.ts. Only its text is used. */
const parts: readonly (readonly [name: string, make: { toString(): string }])[] = [
  ['painted', paintedWalk],
  ['texts', textReader],
  ['markup', markupReader],
  ['clean', cleanReader],
  ['links', linkReader],
  ['facts', factReader],
  ['extracts', extractor],
];

let source: string | undefined;

/**
 * The code that reads pages: `globalThis.airlockReader`, made once for each document. The world must have
 * `globalThis.airlock` already (injected/bundle.ts). Apart from that, since a page that is only acted on needs none of it.
 */
export function readerSource(): string {
  source ??= compose();
  return source;
}

function compose(): string {
  const lines = [
    'const made = { ...globalThis.airlock.parts };',
    `made.pieces = ${pieceBuffer.toString()};`,
    ...parts.map(([name, make]) => `made.${name} = (${make.toString()})(made);`),
    `return (${readerApi.toString()})(made);`,
  ];
  return `globalThis.airlockReader ??= (() => {\n${lines.join('\n')}\n})()`;
}
