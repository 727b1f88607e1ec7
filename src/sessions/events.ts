/** Something that happened in a session, as GET S/events tells it. */
export interface SessionEvent {
  /** Grows by one with every event of the session; the `id` of the SSE message. */
  readonly id: number;
  readonly type:
    | 'denial'
    | 'dialog'
    | 'dialog_closed'
    | 'tab_opened'
    | 'tab_closed'
    | 'navigated'
    | 'crash'
    | 'download'
    | 'closing'
    | 'closed';
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events that can be replayed; older ones are lost, and a reader is told so. */
const KEPT = 1000;

/** The events of one session: a ring for those who come late or come back, and listeners. */
export class EventRing {
  readonly #ring: SessionEvent[] = [];
  readonly #listeners = new Set<(event: SessionEvent) => void>();
  #next = 1;
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  push(type: SessionEvent['type'], data: Readonly<Record<string, unknown>>): void {
    const time = new Date().toISOString();
    const event: SessionEvent = { id: this.#next++, type, time, data: cut(data) };
    this.#ring.push(event);
    if (this.#ring.length > KEPT) this.#ring.shift();
    for (const listener of this.#listeners) listener(event);
  }

  /** No more events come; readers end after what they have. */
  end(): void {
    this.#ended = true;
    for (const listener of this.#listeners) listener(END);
    this.#listeners.clear();
  }

  /** Events after `id` that are still kept, and how many are not. */
  since(id: number): { events: SessionEvent[]; lost: number } {
    const first = this.#ring[0]?.id ?? this.#next;
    return { events: this.#ring.filter((event) => event.id > id), lost: Math.max(0, first - id - 1) };
  }

  /** All events after `id`, those to come too, until the session ends or `signal` aborts. */
  async *follow(id: number, signal: AbortSignal): AsyncGenerator<SessionEvent | { lost: number }> {
    let queue: SessionEvent[] = [];
    let dropped = 0;
    let wake: () => void = () => undefined;
    const listener = (event: SessionEvent) => {
      queue.push(event);
      // A reader that does not read must not make the service keep what the ring does not.
      if (queue.length > KEPT && event !== END) {
        dropped += queue.length;
        queue = [];
      }
      wake();
    };
    const onAbort = () => wake();
    const { events, lost } = this.since(id);
    if (!this.#ended) this.#listeners.add(listener);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (lost > 0) yield { lost };
      yield* events;
      if (this.#ended) return;
      while (!signal.aborted) {
        if (dropped > 0) {
          yield { lost: dropped };
          dropped = 0;
          continue;
        }
        const event = queue.shift();
        if (event === END) return;
        if (event) yield event;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      this.#listeners.delete(listener);
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/** Characters of a text in an event. A page chooses URLs, names and messages, and some are megabytes. */
const TEXT_LIMIT = 2048;

function cut<T>(value: T): T {
  if (typeof value === 'string')
    return (value.length > TEXT_LIMIT ? `${value.slice(0, TEXT_LIMIT)}…` : value) as T;
  if (Array.isArray(value)) return value.map(cut) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cut(inner)])) as T;
}

const END: SessionEvent = { id: 0, type: 'closed', time: '', data: {} };
