import Type, { type Static } from 'typebox';
import { browserView } from './history-entry.ts';
import type { Operation } from './operation.ts';
import { DialogSchema, UNTRUSTED } from './schema.ts';
import type { Tab } from './tab.ts';

export const PageInfoInput = Type.Object({}, { additionalProperties: false });
export const PageInfo = Type.Object({
  tab: Type.String(),
  url: Type.String({ ...UNTRUSTED, description: 'Also of a page that could not be loaded: see failed.' }),
  title: Type.String(UNTRUSTED),
  readyState: Type.Union([Type.Literal('loading'), Type.Literal('interactive'), Type.Literal('complete')]),
  loading: Type.Boolean(),
  dialog: Type.Union([DialogSchema, Type.Null()]),
  historyLength: Type.Union([Type.Integer(), Type.Null()]),
  failed: Type.Optional(
    Type.String({ description: "Chrome's error (net::ERR_…) where the tab shows an error page." }),
  ),
  crashed: Type.Optional(Type.Literal(true)),
});
export type PageInfo = Static<typeof PageInfo>;

/**
 * What the tab shows, without asking its renderer: it answers while the page is busy, crashed, or behind a dialog.
 * @throws AirlockError `tab_not_found` when the tab closes under it, `timeout`
 */
export async function pageInfo(op: Operation): Promise<PageInfo> {
  const { tab } = op;
  const { title, historyLength } = await browserView(op);
  const { main } = tab.frames;
  const failed = main.unreachableUrl === undefined ? undefined : errorOf(tab);
  return {
    tab: tab.id,
    url: main.unreachableUrl ?? tab.url,
    title: failed === undefined ? title : '',
    readyState: readyState(tab),
    loading: tab.documents.loading,
    dialog: tab.dialog ?? null,
    historyLength: historyLength ?? null,
    ...(failed !== undefined && { failed }),
    ...(tab.crashed && { crashed: true as const }),
  };
}

function errorOf(tab: Tab): string {
  return tab.documents.get(tab.frames.main.loaderId)?.error ?? 'net::ERR_FAILED';
}

/** As `document.readyState` would say it, from Chrome's lifecycle events. */
function readyState(tab: Tab): PageInfo['readyState'] {
  const reached = tab.documents.get(tab.frames.main.loaderId)?.reached;
  if (reached?.has('load') || !tab.documents.loading) return 'complete';
  return reached?.has('DOMContentLoaded') ? 'interactive' : 'loading';
}
