import { Type } from 'typebox';
import { AirlockError } from '../errors.ts';
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
    dialog: Type.Union([
      Type.Null(),
      Type.Object({
        tab: Type.String(),
        type: Type.Enum(['alert', 'confirm', 'prompt', 'beforeunload']),
        message: Type.String({ 'x-untrusted': true }),
        defaultPrompt: Type.String({ 'x-untrusted': true }),
        url: Type.String({ 'x-untrusted': true }),
        openedAt: Type.String({ format: 'date-time' }),
      }),
    ]),
  }),
  async run({ session }, { tab }) {
    const found = session.tabs.get(tab);
    return { dialog: found.dialog ? { tab: found.id, ...found.dialog } : null };
  },
});

const answerDialog = defineOperation({
  name: 'dialog.answer',
  method: 'POST',
  path: '/v1/sessions/{id}/dialog',
  summary: 'Accept or dismiss the open dialog; never waits for the lane',
  tag: 'tabs',
  scope: 'observer',
  input: Type.Object({
    action: Type.Enum(['accept', 'dismiss']),
    text: Type.Optional(Type.String({ maxLength: 100_000, description: 'what a prompt returns' })),
    tab: Type.Optional(Type.String()),
  }),
  result: Type.Object({ ok: Type.Literal(true), tab: Type.String() }),
  errors: ['no_dialog', 'tab_not_found'],
  async run({ session }, { action, text, tab }) {
    const found = session.tabs.get(tab);
    if (!found.dialog) throw new AirlockError('no_dialog', `Tab ${found.id} shows no dialog`);
    await found.answerDialog(action === 'accept', text);
    return { ok: true as const, tab: found.id };
  },
});

export const tabOperations = [listTabs, getDialog, answerDialog];
