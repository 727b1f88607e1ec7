/// <reference lib="dom" />

/** Text that grows up to a limit, with places for the documents of frames. Injected by its text. */
export function pieceBuffer(limit: number) {
  const done: (string | number)[] = [];
  let parts: string[] = [];
  let length = 0;
  let over = false;

  function add(text: string): void {
    if (over) return;
    over = length + text.length > limit;
    const kept = over ? text.slice(0, limit - length) : text;
    parts.push(kept);
    length += kept.length;
  }

  /** The place of the document of an iframe, by its ref. */
  function addFrame(ref: number): void {
    if (over) return;
    done.push(parts.join(''), ref);
    parts = [];
  }

  function finish(): { pieces: (string | number)[]; over: boolean } {
    done.push(parts.join(''));
    parts = [];
    return { pieces: done, over };
  }

  return { add, addFrame, finish, isOver: () => over };
}

export type Pieces = ReturnType<typeof pieceBuffer>;
