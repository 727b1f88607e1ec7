import { Type } from 'typebox';
import { answerDialog, DialogInput } from '../page/dialogs.ts';
import { DialogSchema } from '../page/schema.ts';
import { defineOperation } from './define.ts';

const TabView = Type.Object({
  id: Type.String(),
  url: Type.String({ 'x-untrusted': true }),
  title: Type.String({ 'x-untrusted': true }),
  active: Type.Boolean({ description: 'the tab of operations that name none' }),
  opener: Type.Optional(Type.String({ description: 'the tab that opened it' })),
  crashed: Type.Boolean(),
});

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
    const { tabs } = session;
    return {
      tabs: tabs.list().map((tab) => ({
        id: tab.id,
        url: tab.url,
        title: tab.title,
        active: tab.id === tabs.activeId,
        crashed: tab.crashed,
        ...(tab.opener === undefined ? {} : { opener: tab.opener }),
      })),
    };
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

export const tabOperations = [listTabs, getDialog, answer];
