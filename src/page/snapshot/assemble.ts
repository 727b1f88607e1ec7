import type { FrameText } from '../injected/types.ts';

/** A frame that was walked, with the frames inside it by the ref number of their iframe. */
export interface WalkedFrame {
  readonly walked: FrameText;
  readonly children: ReadonlyMap<number, WalkedFrame>;
}

/**
 * Puts the frames of a page together: the lines of each child frame stand below the line of its iframe, one level deeper.
 * An iframe without a walked frame (still loading, crashed, refused) keeps its line alone.
 */
export function assembleFrames(frame: WalkedFrame): string {
  const { text, frames } = frame.walked;
  if (frames.length === 0 || frame.children.size === 0) return text;
  const lines = text.split('\n');
  const inner = new Map<number, string>();
  for (const { ref, line } of frames) {
    const child = frame.children.get(ref);
    const below = child === undefined ? '' : assembleFrames(child);
    const indent = indentOf(lines[line] ?? '') + 2;
    if (below !== '') inner.set(line, below.replace(/^/gm, ' '.repeat(indent)));
  }
  return lines.map((line, index) => (inner.has(index) ? `${line}\n${inner.get(index)}` : line)).join('\n');
}

/** Leading spaces of a line. */
export function indentOf(line: string): number {
  let at = 0;
  while (line.charCodeAt(at) === 32) at++;
  return at;
}
