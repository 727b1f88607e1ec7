/** Where a ref lives: one document of one frame of one tab. */
export interface RefHome {
  readonly tabId: string;
  readonly frameId: string;
  /** The document, by its loader id; a ref dies with it. */
  readonly loaderId: string;
}

interface Range extends RefHome {
  /** First and one past the last number. */
  readonly from: number;
  readonly to: number;
}

/** `e12`, `f2e3`, optionally with a leading `@`. */
const REF = /^@?(?:f(\d{1,6}))?e(\d{1,9})$/;

export interface ParsedRef {
  readonly frameOrdinal: number;
  readonly number: number;
  /** Without `@`. */
  readonly text: string;
}

/** @returns the parts of a ref, or `undefined` if the text is not one */
export function parseRef(text: string): ParsedRef | undefined {
  const match = REF.exec(text);
  if (!match) return undefined;
  return {
    frameOrdinal: Number(match[1] ?? 0),
    number: Number(match[2]),
    text: text.startsWith('@') ? text.slice(1) : text,
  };
}

export function formatRef(frameOrdinal: number, number: number): string {
  return frameOrdinal === 0 ? `e${number}` : `f${frameOrdinal}e${number}`;
}

/**
 * Numbers of refs, one sequence for the whole session: a number is given once, to one node of one document. The page
 * keeps number → node; here is only which document a number belongs to, as ranges, so that 100 000 refs cost little.
 */
export class RefTable {
  #next = 1;
  readonly #ranges: Range[] = [];

  /** The number that the next new ref gets. */
  get next(): number {
    return this.#next;
  }

  /** Records that the numbers up to (not including) `next` were given out in `home`. */
  claim(home: RefHome, next: number): void {
    if (next <= this.#next) return;
    const last = this.#ranges.at(-1);
    if (last && last.to === this.#next && sameHome(last, home)) {
      this.#ranges[this.#ranges.length - 1] = { ...last, to: next };
    } else {
      this.#ranges.push({ ...home, from: this.#next, to: next });
    }
    this.#next = next;
  }

  /** @returns the document that the number was given out in, or `undefined` for a number that never was */
  home(number: number): RefHome | undefined {
    let low = 0;
    let high = this.#ranges.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const range = this.#ranges[middle];
      if (!range) return undefined;
      if (number < range.from) high = middle - 1;
      else if (number >= range.to) low = middle + 1;
      else return range;
    }
    return undefined;
  }
}

function sameHome(a: RefHome, b: RefHome): boolean {
  return a.tabId === b.tabId && a.frameId === b.frameId && a.loaderId === b.loaderId;
}
