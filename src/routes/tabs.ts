import { type Static, Type } from 'typebox';
import { answerDialog, DialogInput } from '../page/dialogs.ts';
import { NavigateInput, NavigateResult, navigate } from '../page/navigate.ts';
import { DialogSchema } from '../page/schema.ts';
import type { Tab } from '../page/tab.ts';
import type { Session } from '../sessions/session.ts';
import { defineOperation } from './define.ts';

const TabView = Type.Object({
  id: Type.String(),
  url: Type.String({ 'x-untrusted': true }),
  title: Type.String({ 'x-untrusted': true }),
  active: Type.Boolean({ description: 'the tab of operations that name none' }),
  opener: Type.Optional(Type.String({ description: 'the tab that opened it' })),
  crashed: Type.Boolean(),
});

function view(session: Session, tab: Tab): Static<typeof TabView> {
  return {
    id: tab.id,
    url: tab.url,
    title: tab.title,
    active: tab.id === session.tabs.activeId,
    crashed: tab.crashed,
    ...(tab.opener === undefined ? {} : { opener: tab.opener }),
  };
}

const listTabs = defineOperation({
  name: 'tabs.list',
  method: 'GET',
  path: '/v1/sessions/{id}/tabs',
  summary: 'List the tabs; popups are tabs',
  tag: 'tabs',
  scope: 'observer',
  input: Type.Object({}),
  result: Type.Object({ tabs: Type.Array(TabView) }),
  async run({ session }) {
    await session.refreshTitles();
    return { tabs: session.tabs.list().map((tab) => view(session, tab)) };
  },
});

const openTab = defineOperation({
  name: 'tabs.open',
  method: 'POST',
  path: '/v1/sessions/{id}/tabs',
  summary: 'Open a tab, and go to a URL in it where one is given; it becomes the active one',
  tag: 'tabs',
  scope: 'observer',
  input: Type.Object(
    {
      url: Type.Optional(NavigateInput.properties.url),
      waitUntil: NavigateInput.properties.waitUntil,
      activate: Type.Optional(Type.Boolean({ description: 'default true' })),
      timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 300_000 })),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ tab: TabView, navigation: Type.Optional(NavigateResult) }),
  status: 201,
  errors: ['tab_limit', 'policy_denied', 'navigation_failed', 'timeout'],
  async run({ session, request }, { url, waitUntil, activate = true, timeoutMs = 30_000 }) {
    const tab = await session.openTab(url, activate);
    if (url === undefined) return { tab: view(session, tab) };
    const navigation = await session.run({ tab: tab.id, timeoutMs, client: request.signal }, (op) =>
      navigate(op, { url, ...(waitUntil === undefined ? {} : { waitUntil }) }),
    );
    return { tab: view(session, tab), navigation };
  },
});

const activateTab = defineOperation({
  name: 'tabs.activate',
  method: 'POST',
  path: '/v1/sessions/{id}/tabs/{which}/activate',
  summary: 'Make a tab the one of operations that name none, and bring it to the front',
  tag: 'tabs',
  scope: 'observer',
  input: Type.Object({ which: Type.String({ description: 'id of the tab' }) }),
  result: Type.Object({ tab: TabView }),
  errors: ['tab_not_found'],
  async run({ session }, { which }) {
    return { tab: view(session, await session.activateTab(which)) };
  },
});

const closeTab = defineOperation({
  name: 'tabs.close',
  method: 'DELETE',
  path: '/v1/sessions/{id}/tabs/{which}',
  summary: 'Close a tab, whatever its page says; answers when it is gone',
  tag: 'tabs',
  scope: 'observer',
  input: Type.Object({ which: Type.String({ description: 'id of the tab' }) }),
  result: Type.Object({ closed: Type.String(), active: Type.Optional(Type.String()) }),
  errors: ['tab_not_found', 'timeout'],
  async run({ session }, { which }) {
    await session.closeTab(which);
    const { activeId } = session.tabs;
    return { closed: which, ...(activeId === undefined ? {} : { active: activeId }) };
  },
});

const getDialog = defineOperation({
  name: 'dialog.get',
  method: 'GET',
  path: '/v1/sessions/{id}/dialog',
  summary: 'The open dialog of a tab, if there is one',
  tag: 'tabs',
  scope: 'observer',
  input: Type.Object({ tab: Type.Optional(Type.String()) }),
  result: Type.Object({
    tab: Type.String(),
    dialog: Type.Union([Type.Null(), DialogSchema]),
  }),
  async run({ session }, { tab }) {
    const found = session.tabs.get(tab);
    return { tab: found.id, dialog: found.dialog ?? null };
  },
});

const answer = defineOperation({
  name: 'dialog.answer',
  method: 'POST',
  path: '/v1/sessions/{id}/dialog',
  summary: 'Accept or dismiss the open dialog; never waits for the lane',
  tag: 'tabs',
  scope: 'observer',
  input: Type.Object({ ...DialogInput.properties, tab: Type.Optional(Type.String()) }),
  result: Type.Object({
    ok: Type.Literal(true),
    dialog: DialogSchema,
    next: Type.Optional(DialogSchema),
  }),
  errors: ['no_dialog', 'tab_not_found'],
  run: ({ session, request }, { tab, ...input }) =>
    session.runBeside({ tab, timeoutMs: 10_000, client: request.signal }, (op) => answerDialog(op, input)),
});

export const tabOperations = [listTabs, openTab, activateTab, closeTab, getDialog, answer];
