import { AirlockError } from '../errors.ts';
import type { Frame } from './frames.ts';
import type { Operation, VisitOrigin } from './operation.ts';
import { originOf, readOrigin } from './origin.ts';
import type {
  Area,
  ClearStorageResult,
  SetStorageInput,
  StorageInput,
  StorageItem,
  StorageResult,
} from './storage-schema.ts';
import { requireWebPage } from './web-page.ts';
import { evaluateValue, isolatedWorld, type World } from './world.ts';

/** Runs in a document. Texts cross as JSON, which keeps halves of surrogate pairs as they are. */
const READ = `storage => {
  const items = [];
  for (let i = 0; i < storage.length; i++) {
    const name = storage.key(i);
    items.push({ name, value: storage.getItem(name) });
  }
  return items;
}`;

/** All or nothing: what was there comes back when one item is refused. */
const REPLACE = `(storage, items) => {
  const fill = list => {
    storage.clear();
    const rejected = [];
    list.forEach(({ name, value }, index) => {
      let why = 'it was not stored as given';
      try { storage.setItem(name, value); } catch (error) { why = error.name; }
      if (storage.getItem(name) !== value) rejected.push({ index, name, why });
    });
    return rejected;
  };
  const before = (${READ})(storage);
  const rejected = fill(items);
  if (rejected.length > 0) fill(before);
  return { before: before.length, rejected };
}`;

interface Replaced {
  readonly before: number;
  readonly rejected: readonly { index: number; name: string; why: string }[];
}

/** What a script of ours answers: its value, or that the document is of another origin than the one that was meant. */
type Answer = { ok: unknown } | { origin: string } | { error: string };

export async function getStorage(op: Operation, input: StorageInput): Promise<StorageResult> {
  const origin = meantOrigin(op, input);
  return withStorages(op, async (storages) => ({ origin, items: await storages.read(input.area, origin) }));
}

/**
 * Makes `items` all that an origin has stored.
 * @throws AirlockError `storage_rejected` when one was not stored; then what was there before is there again
 */
export async function setStorage(op: Operation, input: SetStorageInput): Promise<StorageResult> {
  const origin = meantOrigin(op, input);
  return withStorages(op, async (storages) => {
    await storages.replace(input.area, origin, input.items);
    if (input.area === 'local') op.env.origins.add(origin);
    return { origin, items: await storages.read(input.area, origin) };
  });
}

export async function clearStorage(op: Operation, input: StorageInput): Promise<ClearStorageResult> {
  const origin = meantOrigin(op, input);
  return withStorages(op, async (storages) => ({
    origin,
    cleared: await storages.replace(input.area, origin, []),
  }));
}

function meantOrigin(op: Operation, { origin }: StorageInput): string {
  if (origin !== undefined) return readOrigin(origin, '/origin');
  requireWebPage(op, op.tab.frames.main);
  const ofPage = originOf(op.tab.url);
  if (ofPage !== undefined) return ofPage;
  throw new AirlockError('invalid_request', '/origin: the page has no origin that stores; name one', {
    extra: { pointer: '/origin' },
  });
}

/** Runs `work` with the storages of all origins; what was opened for it is closed at its end. */
export function withStorages<T>(op: Operation, work: (storages: Storages) => Promise<T>): Promise<T> {
  // Not in a race: a dialog or a crash ends the calls within, and the answer waits until the page of our own is gone.
  return op.env.origins.use(op.signal, (visit) => work(new Storages(op, visit)));
}

/** localStorage and sessionStorage by origin: in the page of the tab where it shows the origin, else in a page of our own. */
export class Storages {
  readonly #op: Operation;
  readonly #visit: VisitOrigin;

  constructor(op: Operation, visit: VisitOrigin) {
    this.#op = op;
    this.#visit = visit;
  }

  /** Every item, in Chrome's order. */
  async read(area: Area, origin: string): Promise<StorageItem[]> {
    return (await this.#run(area, origin, `(${READ})(${area}Storage)`)) as StorageItem[];
  }

  /**
   * @returns how many items there were
   * @throws AirlockError `storage_rejected`, with what is stored as it was
   */
  async replace(area: Area, origin: string, items: readonly StorageItem[]): Promise<number> {
    const given = JSON.stringify(JSON.stringify(items));
    const answer = await this.#run(area, origin, `(${REPLACE})(${area}Storage, JSON.parse(${given}))`);
    const { before, rejected } = answer as Replaced;
    const [first] = rejected;
    if (!first) return before;
    throw new AirlockError(
      'storage_rejected',
      `${rejected.length} of ${items.length} not stored in ${origin}; ${JSON.stringify(first.name.slice(0, 200))}: ${first.why}`,
      { extra: { origin, area, rejected: rejected.slice(0, 100) } },
    );
  }

  async #run(area: Area, origin: string, call: string): Promise<unknown> {
    const source = script(origin, call);
    const frame = this.#frameOf(area, origin);
    if (frame) {
      const answer = await this.#evaluate(await isolatedWorld(this.#op, frame), source);
      // A sandboxed page has the URL and not the origin.
      if (!('origin' in answer)) return used(answer, origin);
    }
    if (area === 'session') {
      throw new AirlockError(
        'frame_not_found',
        `The tab shows no frame of ${origin}, so it has no sessionStorage`,
      );
    }
    const answer = await this.#inPageOfOurOwn(origin, source);
    return used(answer, origin);
  }

  /** A frame of another site has a storage of its own for each page around it: that of the origin itself is the page's. */
  #frameOf(area: Area, origin: string): Frame | undefined {
    const frames = this.#op.tab.frames;
    const candidates = area === 'local' ? [frames.main] : frames.list();
    return candidates.find((frame) => originOf(frame.url) === origin && frame.session !== undefined);
  }

  async #evaluate(world: World, source: string): Promise<Answer> {
    return parse(await evaluateValue(this.#op, world, source));
  }

  async #inPageOfOurOwn(origin: string, source: string): Promise<Answer> {
    const session = await this.#visit(origin);
    const { result } = await this.#op.send(session, 'Runtime.evaluate', {
      expression: source,
      returnByValue: true,
    });
    return parse(result.value);
  }
}

function script(origin: string, call: string): string {
  return `(() => {
  if (self.origin !== ${JSON.stringify(origin)}) return JSON.stringify({ origin: self.origin });
  try { return JSON.stringify({ ok: ${call} }); } catch (error) { return JSON.stringify({ error: String(error) }); }
})()`;
}

function parse(value: unknown): Answer {
  return JSON.parse(String(value));
}

function used(answer: Answer, origin: string): unknown {
  if ('ok' in answer) return answer.ok;
  const why = 'error' in answer ? answer.error : `the document is of ${answer.origin}`;
  throw new AirlockError('storage_rejected', `The storage of ${origin} cannot be used: ${why}`, {
    extra: { origin },
  });
}
