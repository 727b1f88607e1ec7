import { EventEmitter } from 'node:events';
import type { CdpSession, Protocol } from './cdp.ts';
import { withoutUser } from './shown-url.ts';

/** One frame of a tab. Its document changes with `loaderId`; its host session changes when it moves between processes. */
export interface Frame {
  /** Chrome's frame id; equal to the target id where the frame is out of process. */
  readonly id: string;
  /** `undefined` for the main frame. */
  readonly parentId: string | undefined;
  /** 0 for the main frame, then 1, 2, … in order of appearance; never used again in the tab. The `1` of `f1e2`. */
  readonly ordinal: number;
  url: string;
  /** Where Chrome shows its own error page: the address that could not be shown. */
  unreachableUrl: string | undefined;
  name: string;
  /** Of its document; `://` for one of its own (sandboxed, data:), `''` while it is not known and that of the parent is likely. */
  origin: string;
  /** Changes with every new document; `''` before the first. */
  loaderId: string;
  /** The session that hosts the frame; `undefined` while it moves between processes. */
  session: CdpSession | undefined;
  /** Execution context of the page's own scripts. */
  mainContextId: number | undefined;
  /** Execution context of our isolated world; made on first use, one per document. */
  isolatedContextId: number | undefined;
}

interface FramesEvents {
  /** A frame has a new document. */
  navigated: [Frame];
  /** The same document has a new URL (hash change, pushState). */
  navigatedWithin: [Frame];
  removed: [Frame];
  /** The host session or a context changed. */
  changed: [Frame];
  /** The renderer of an out-of-process frame died. */
  crashed: [CdpSession];
}

/**
 * The frame tree of one tab over all its CDP sessions (the main one and one for each out-of-process frame), built
 * from `Page.frame*`, `Target.attachedToTarget` and `Runtime.executionContext*` events.
 */
export class Frames extends EventEmitter<FramesEvents> {
  readonly #frames = new Map<string, Frame>();
  #mainId: string;
  #nextOrdinal = 1;
  readonly #dead = new WeakSet<CdpSession>();

  constructor(mainId: string, session: CdpSession) {
    super();
    this.setMaxListeners(0);
    this.#mainId = mainId;
    this.#frames.set(mainId, newFrame(mainId, undefined, 0, session));
    this.watch(session);
  }

  get main(): Frame {
    const frame = this.#frames.get(this.#mainId);
    if (!frame) throw new Error('a tab always has its main frame');
    return frame;
  }

  get(id: string): Frame | undefined {
    return this.#frames.get(id);
  }

  byOrdinal(ordinal: number): Frame | undefined {
    return this.list().find((frame) => frame.ordinal === ordinal);
  }

  /** The renderer behind the session of an out-of-process frame died, and no document has come since: nothing answers there. */
  isDead(session: CdpSession): boolean {
    return this.#dead.has(session);
  }

  /** All frames, parents before children, siblings in order of appearance. */
  list(): Frame[] {
    return [...this.#frames.values()];
  }

  children(id: string): Frame[] {
    return this.list().filter((frame) => frame.parentId === id);
  }

  /** Follows the frames that live in `session`. Called once for each page or out-of-process frame session. */
  watch(session: CdpSession): void {
    session.on('Page.frameAttached', (event) => this.#attached(session, event.frameId, event.parentFrameId));
    session.on('Page.frameNavigated', (event) => this.#navigated(session, event.frame));
    session.on('Page.navigatedWithinDocument', (event) => this.#navigatedWithin(event.frameId, event.url));
    session.on('Page.frameDetached', (event) => this.#detached(session, event.frameId, event.reason));
    session.on('Runtime.executionContextCreated', (event) => this.#contextCreated(session, event.context));
    session.on('Runtime.executionContextDestroyed', (event) =>
      this.#contextDestroyed(session, event.executionContextId),
    );
    session.on('Runtime.executionContextsCleared', () => this.#contextsCleared(session));
  }

  /** An out-of-process frame got its own session. */
  adopt(session: CdpSession, frameId: string, parentId: string | undefined): void {
    const frame = this.#frames.get(frameId) ?? this.#add(frameId, parentId, session);
    frame.session = session;
    frame.mainContextId = undefined;
    frame.isolatedContextId = undefined;
    this.watch(session);
    session.on('Inspector.targetCrashed', () => {
      this.#dead.add(session);
      this.emit('crashed', session);
    });
    this.emit('changed', frame);
  }

  /** The session of an out-of-process frame ended; the frame itself may move to another process. */
  release(session: CdpSession): void {
    for (const frame of this.#frames.values()) {
      if (frame.session !== session) continue;
      frame.session = undefined;
      frame.mainContextId = undefined;
      frame.isolatedContextId = undefined;
      this.emit('changed', frame);
    }
  }

  /** Takes over what existed before `Page.enable` was sent. */
  load(session: CdpSession, tree: Protocol.Page.FrameTree): void {
    const known = this.#frames.get(tree.frame.id);
    if (!known) this.#attached(session, tree.frame.id, tree.frame.parentId);
    const frame = this.#frames.get(tree.frame.id);
    if (frame && frame.loaderId === '') {
      frame.url = urlOf(tree.frame);
      frame.unreachableUrl = tree.frame.unreachableUrl && withoutUser(tree.frame.unreachableUrl);
      frame.name = tree.frame.name ?? '';
      frame.origin = originOf(tree.frame);
      frame.loaderId = tree.frame.loaderId;
    }
    for (const child of tree.childFrames ?? []) this.load(session, child);
  }

  #add(id: string, parentId: string | undefined, session: CdpSession): Frame {
    const frame = newFrame(id, parentId, this.#nextOrdinal++, session);
    this.#frames.set(id, frame);
    return frame;
  }

  #attached(session: CdpSession, id: string, parentId: string | undefined): void {
    const frame = this.#frames.get(id);
    if (!frame) {
      this.#add(id, parentId, session);
      return;
    }
    // A frame that was out of process came back into its parent's process.
    if (frame.session !== session && parentId !== undefined) {
      frame.session = session;
      frame.mainContextId = undefined;
      frame.isolatedContextId = undefined;
      this.emit('changed', frame);
    }
  }

  #navigated(session: CdpSession, payload: Protocol.Page.Frame): void {
    this.#dead.delete(session);
    let frame = this.#frames.get(payload.id);
    if (!frame && payload.parentId === undefined) frame = this.#replaceMain(payload.id, session);
    frame ??= this.#add(payload.id, payload.parentId, session);
    for (const child of this.children(frame.id)) this.#remove(child);
    if (frame.loaderId !== payload.loaderId) frame.isolatedContextId = undefined;
    frame.session = session;
    frame.url = urlOf(payload);
    frame.unreachableUrl = payload.unreachableUrl && withoutUser(payload.unreachableUrl);
    frame.name = payload.name ?? '';
    frame.origin = originOf(payload);
    frame.loaderId = payload.loaderId;
    this.emit('navigated', frame);
  }

  /** Chrome gave the tab's main frame a new id (some cross-process navigations do). */
  #replaceMain(id: string, session: CdpSession): Frame {
    const old = this.main;
    for (const child of this.children(old.id)) this.#remove(child);
    this.#frames.delete(old.id);
    const frame = newFrame(id, undefined, 0, session);
    this.#mainId = id;
    this.#frames.set(id, frame);
    return frame;
  }

  #navigatedWithin(id: string, url: string): void {
    const frame = this.#frames.get(id);
    if (!frame) return;
    frame.url = withoutUser(url);
    this.emit('navigatedWithin', frame);
  }

  #detached(session: CdpSession, id: string, reason: string): void {
    const frame = this.#frames.get(id);
    if (!frame || frame.id === this.#mainId) return;
    // 'swap': the frame lives on in another process, whose session attaches before or after this event.
    if (reason === 'swap') {
      if (frame.session === session) frame.session = undefined;
      return;
    }
    this.#remove(frame);
  }

  #remove(frame: Frame): void {
    for (const child of this.children(frame.id)) this.#remove(child);
    this.#frames.delete(frame.id);
    this.emit('removed', frame);
  }

  #contextCreated(session: CdpSession, context: Protocol.Runtime.ExecutionContextDescription): void {
    const frameId: unknown = context.auxData?.['frameId'];
    const frame = typeof frameId === 'string' ? this.#frames.get(frameId) : undefined;
    if (!frame || context.auxData?.['isDefault'] !== true) return;
    if (frame.session !== session) return;
    frame.mainContextId = context.id;
    frame.origin = context.origin;
    this.emit('changed', frame);
  }

  #contextDestroyed(session: CdpSession, contextId: number): void {
    for (const frame of this.#frames.values()) {
      if (frame.session !== session) continue;
      if (frame.mainContextId === contextId) frame.mainContextId = undefined;
      if (frame.isolatedContextId === contextId) frame.isolatedContextId = undefined;
    }
  }

  #contextsCleared(session: CdpSession): void {
    for (const frame of this.#frames.values()) {
      if (frame.session !== session) continue;
      frame.mainContextId = undefined;
      frame.isolatedContextId = undefined;
    }
  }
}

function newFrame(id: string, parentId: string | undefined, ordinal: number, session: CdpSession): Frame {
  return {
    id,
    parentId,
    ordinal,
    url: '',
    unreachableUrl: undefined,
    name: '',
    origin: '',
    loaderId: '',
    session,
    mainContextId: undefined,
    isolatedContextId: undefined,
  };
}

function urlOf(frame: Protocol.Page.Frame): string {
  return withoutUser(frame.url + (frame.urlFragment ?? ''));
}

/** What the URL says: an about: document may have the origin of its parent or one of its own, which its context will tell. */
function originOf({ url, securityOrigin }: Protocol.Page.Frame): string {
  return url.startsWith('about:') ? '' : securityOrigin;
}
