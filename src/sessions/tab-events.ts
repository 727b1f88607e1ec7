import type { Tab } from '../page/tab.ts';
import type { EventRing } from './events.ts';

/** Puts what happens in a tab among the events of its session. */
export function tellOfTab(tab: Tab, events: EventRing): void {
  events.push('tab_opened', {
    tab: tab.id,
    url: tab.url,
    ...(tab.opener !== undefined && { opener: tab.opener }),
  });
  tab.on('dialog', (dialog) => events.push('dialog', { tab: tab.id, dialog }));
  tab.on('dialogClosed', () => events.push('dialog_closed', { tab: tab.id }));
  tab.on('navigated', (url) => events.push('navigated', { tab: tab.id, url }));
  tab.on('crashed', () => events.push('crash', { tab: tab.id }));
  tab.frames.on('crashed', () => events.push('crash', { tab: tab.id, frame: true }));
  tab.on('closed', () => events.push('tab_closed', { tab: tab.id }));
}
