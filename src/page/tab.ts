import { EventEmitter } from 'node:events';
import type { CdpSession } from './cdp.ts';
import { Documents } from './documents.ts';
import { Frames } from './frames.ts';
import type { DecisionView } from './operation.ts';
import { Recent } from './recent.ts';
import { Traffic } from './traffic.ts';

/** A JavaScript dialog that waits for an answer. */
export interface Dialog {
  readonly type: 'alert' | 'confirm' | 'prompt' | 'beforeunload';
  readonly message: string;
  /** What a prompt shows as its value. */
  readonly defaultPrompt: string;
  /** The page that opened it. */
  readonly url: string;
  readonly openedAt: string;
  /** The session's policy has answered it so: it is open no more. */
  answered?: 'accept' | 'dismiss';
}

export interface FailedRequest {
  readonly url: string;
  readonly type: string;
  /** Chrome's net error (`net::ERR_…`). */
  readonly error: string;
}

interface Request extends Omit<FailedRequest, 'error'> {
  /** The document that asked for it. */
  readonly loaderId: string;
}

interface TabEvents {
  dialog: [Dialog];
  dialogClosed: [];
  crashed: [];
  /** The main frame has a new document, or a new URL within the same one. */
  navigated: [url: string];
  closed: [];
}

/** How many failed requests, and how many console errors, a tab remembers. */
const REMEMBERED = 500;
/** Characters of one of them that are kept. */
const TEXT_LIMIT = 2000;

/** One top-level page. Its id is stable and never used again in the session. */
export class Tab extends EventEmitter<TabEvents> {
  /** `t1`, `t2`, … in order of opening. */
  readonly id: string;
  readonly targetId: string;
  /** The session of the main frame; those of out-of-process frames are in `frames`. */
  readonly session: CdpSession;
  readonly frames: Frames;
  readonly documents: Documents;
  /** What the tab asks of the network, over all its sessions. */
  readonly traffic = new Traffic();
  /** Id of the tab that opened this one, even where `noopener` hides it from the page. */
  readonly opener: string | undefined;
  title = '';
  dialog: Dialog | undefined;
  /** The renderer died; a navigation brings a new one. */
  crashed = false;
  closed = false;
  /** The last load of the main frame that was ended on its way because the policy denies it: the tab shows what it did before. */
  refusedLoad: { readonly url: string; readonly at: number; readonly decision: DecisionView } | undefined;
  /** Of the document that the main frame has, and of its frames; its own load is in it from the first request on. */
  readonly failedRequests = new Recent<FailedRequest>(REMEMBERED);
  /** As `failedRequests`. */
  readonly consoleErrors = new Recent<string>(REMEMBERED);
  /** Requests without an end, by id, over all sessions. */
  readonly #requests = new Map<string, Request>();
  readonly #askedBy = new WeakMap<FailedRequest, string>();
  /** The document that the lists above are of. */
  #listedFor = '';
  /** The session that said that the dialog is open: the frame that opened it may be out of process. */
  #dialogSession: CdpSession | undefined;

  constructor(init: { id: string; targetId: string; session: CdpSession; opener: string | undefined }) {
    super();
    this.setMaxListeners(0);
    this.id = init.id;
    this.targetId = init.targetId;
    this.session = init.session;
    this.opener = init.opener;
    this.frames = new Frames(init.targetId, init.session);
    this.documents = new Documents(init.session, (frameId) => frameId === this.frames.main.id);
    this.frames.on('navigated', (frame) => {
      if (frame.parentId !== undefined) return;
      this.crashed = false;
      this.traffic.leave(frame.loaderId);
      this.#forgetBefore(frame.loaderId);
      this.emit('navigated', frame.url);
    });
    this.frames.on('navigatedWithin', (frame) => {
      if (frame.parentId === undefined) this.emit('navigated', frame.url);
    });
    this.#watchTrouble();
  }

  get url(): string {
    return this.frames.main.url;
  }

  /** Follows dialogs, failures and console errors of one session of the tab. Called for the main one by itself. */
  watch(session: CdpSession): void {
    this.traffic.watch(session);
    session.on('Page.javascriptDialogOpening', (event) => {
      this.dialog = {
        type: event.type,
        message: event.message,
        defaultPrompt: event.defaultPrompt ?? '',
        url: event.url,
        openedAt: new Date().toISOString(),
      };
      this.#dialogSession = session;
      this.emit('dialog', this.dialog);
    });
    session.on('Page.javascriptDialogClosed', () => {
      this.dialog = undefined;
      this.emit('dialogClosed');
    });
    session.on('Runtime.exceptionThrown', ({ exceptionDetails }) =>
      this.consoleErrors.add(
        (exceptionDetails.exception?.description ?? exceptionDetails.text).slice(0, TEXT_LIMIT),
      ),
    );
    session.on('Runtime.consoleAPICalled', (event) => {
      if (event.type !== 'error' && event.type !== 'assert') return;
      const text = event.args.map((arg) => String(arg.value ?? arg.description ?? arg.type)).join(' ');
      this.consoleErrors.add(text.slice(0, TEXT_LIMIT));
    });
    this.#watchFailures(session);
  }

  /** The main frame has another document: what the one before it logged, asked for and may still fail to get is over. */
  #forgetBefore(loaderId: string): void {
    if (loaderId === this.#listedFor) return;
    this.#listedFor = loaderId;
    this.consoleErrors.clear();
    this.failedRequests.keep((failed) => this.#askedBy.get(failed) === loaderId);
    for (const [id, request] of this.#requests) if (request.loaderId !== loaderId) this.#requests.delete(id);
  }

  #watchFailures(session: CdpSession): void {
    const requests = this.#requests;
    session.on('Network.requestWillBeSent', (event) => {
      if (requests.size >= REMEMBERED) requests.clear();
      requests.set(event.requestId, {
        url: event.request.url.slice(0, TEXT_LIMIT),
        type: event.type ?? 'Other',
        loaderId: event.loaderId,
      });
    });
    session.on('Network.loadingFinished', (event) => requests.delete(event.requestId));
    session.on('Network.loadingFailed', (event) => {
      const request = requests.get(event.requestId);
      requests.delete(event.requestId);
      if (!request || event.canceled) return;
      const failed = { url: request.url, type: request.type, error: event.errorText };
      this.#askedBy.set(failed, request.loaderId);
      this.failedRequests.add(failed);
    });
  }

  /**
   * Answers the open dialog.
   * @param accept OK, or Cancel
   * @param promptText what a prompt returns when accepted
   * @throws Error Chrome's refusal, when the dialog closed by itself meanwhile
   */
  async answerDialog(accept: boolean, promptText?: string): Promise<void> {
    await (this.#dialogSession ?? this.session).send(
      'Page.handleJavaScriptDialog',
      promptText === undefined ? { accept } : { accept, promptText },
    );
  }

  /** When the latest action began (`Date.now()`), 0 before the first: what it caused may have come before one asks. */
  lastActionAt = 0;

  /** The target is gone: ends whatever waits on this tab. */
  markClosed(): void {
    if (this.closed) return;
    this.closed = true;
    this.emit('closed');
  }

  #watchTrouble(): void {
    this.watch(this.session);
    this.session.on('Inspector.targetCrashed', () => {
      this.crashed = true;
      this.dialog = undefined;
      this.emit('crashed');
    });
  }
}
