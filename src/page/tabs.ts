import { EventEmitter } from 'node:events';
import { AirlockError } from '../errors.ts';
import type { Tab } from './tab.ts';

interface TabsEvents {
  opened: [Tab];
  closed: [Tab];
}

/**
 * The tabs of one session, in order of opening. The default tab of an operation is the active one: the first, until
 * `activate` names another or the active one closes (then the newest that is left). A popup never becomes active by
 * itself, so that a page cannot redirect what the caller does next.
 */
export class Tabs extends EventEmitter<TabsEvents> {
  readonly #tabs = new Map<string, Tab>();
  #activeId: string | undefined;
  #next = 1;

  /** The id for the next tab; ids are never used again. */
  nextId(): string {
    return `t${this.#next++}`;
  }

  add(tab: Tab): void {
    this.#tabs.set(tab.id, tab);
    this.#activeId ??= tab.id;
    tab.once('closed', () => {
      this.#tabs.delete(tab.id);
      if (this.#activeId === tab.id) this.#activeId = [...this.#tabs.keys()].at(-1);
      this.emit('closed', tab);
    });
    this.emit('opened', tab);
  }

  list(): Tab[] {
    return [...this.#tabs.values()];
  }

  get activeId(): string | undefined {
    return this.#activeId;
  }

  /** @throws AirlockError `tab_not_found` for an id that is not open; never another tab in its place */
  get(id: string | undefined): Tab {
    const wanted = id ?? this.#activeId;
    const tab = wanted === undefined ? undefined : this.#tabs.get(wanted);
    if (tab) return tab;
    throw new AirlockError(
      'tab_not_found',
      wanted === undefined ? 'The session has no open tab' : `There is no tab ${wanted}`,
      {
        extra: { tabs: this.list().map((open) => ({ id: open.id, url: open.url })) },
        ...(this.#tabs.size === 0 ? { advice: 'none_open' as const } : {}),
      },
    );
  }

  byTarget(targetId: string): Tab | undefined {
    return this.list().find((tab) => tab.targetId === targetId);
  }

  /** @throws AirlockError `tab_not_found` */
  activate(id: string): Tab {
    const tab = this.get(id);
    this.#activeId = tab.id;
    return tab;
  }
}
