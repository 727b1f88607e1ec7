import { Type } from 'typebox';
import { back, forward, HistoryInput, ReloadInput, reload, StopResult, stop } from '../page/history.ts';
import { PageInfo, pageInfo } from '../page/info.ts';
import { NavigateInput, NavigateResult, navigate } from '../page/navigate.ts';
import { defineOperation } from './define.ts';

const tag = 'navigation';
/** A page may take its time; api.md, Conventions. */
const LOAD_TIMEOUT_MS = 30_000;
/** What looks at a page, or stops it, does not wait long for one that does not answer. */
const BESIDE_TIMEOUT_MS = 5_000;
const OneTab = { tab: Type.Optional(Type.String({ description: 'default: the active tab' })) };

const navigateOperation = defineOperation({
  name: 'navigate',
  method: 'POST',
  path: '/v1/sessions/{id}/navigate',
  summary: 'Go to a URL and wait for it; a 404 or 500 page is a success with that status',
  tag,
  scope: 'page',
  input: NavigateInput,
  result: NavigateResult,
  timeoutMs: LOAD_TIMEOUT_MS,
  errors: ['policy_denied', 'navigation_failed'],
  run: ({ op }, input) => navigate(op, input),
});

const backOperation = defineOperation({
  name: 'back',
  method: 'POST',
  path: '/v1/sessions/{id}/back',
  summary: 'Go back in the history of the tab',
  tag,
  scope: 'page',
  input: HistoryInput,
  result: NavigateResult,
  timeoutMs: LOAD_TIMEOUT_MS,
  errors: ['no_history_entry', 'policy_denied', 'navigation_failed'],
  run: ({ op }, input) => back(op, input),
});

const forwardOperation = defineOperation({
  name: 'forward',
  method: 'POST',
  path: '/v1/sessions/{id}/forward',
  summary: 'Go forward in the history of the tab',
  tag,
  scope: 'page',
  input: HistoryInput,
  result: NavigateResult,
  timeoutMs: LOAD_TIMEOUT_MS,
  errors: ['no_history_entry', 'policy_denied', 'navigation_failed'],
  run: ({ op }, input) => forward(op, input),
});

const reloadOperation = defineOperation({
  name: 'reload',
  method: 'POST',
  path: '/v1/sessions/{id}/reload',
  summary: 'Load the page of the tab again',
  tag,
  scope: 'page',
  input: ReloadInput,
  result: NavigateResult,
  timeoutMs: LOAD_TIMEOUT_MS,
  errors: ['policy_denied', 'navigation_failed'],
  run: ({ op }, input) => reload(op, input),
});

const stopOperation = defineOperation({
  name: 'stop',
  method: 'POST',
  path: '/v1/sessions/{id}/stop',
  summary: 'Stop loading; does not wait for the lane, so it ends a load that is waited for',
  tag,
  scope: 'observer',
  input: Type.Object(OneTab),
  result: StopResult,
  errors: ['tab_not_found', 'timeout'],
  run: ({ session, request }, { tab }) =>
    session.runBeside({ tab, timeoutMs: BESIDE_TIMEOUT_MS, client: request.signal }, stop),
});

const page = defineOperation({
  name: 'page',
  method: 'GET',
  path: '/v1/sessions/{id}/page',
  summary: 'Where the tab is: url, title, loading, dialog; answers while the page is busy',
  tag,
  scope: 'observer',
  input: Type.Object(OneTab),
  result: PageInfo,
  errors: ['tab_not_found'],
  run: ({ session, request }, { tab }) =>
    session.runBeside({ tab, timeoutMs: BESIDE_TIMEOUT_MS, client: request.signal }, pageInfo),
});

export const navigationOperations = [
  navigateOperation,
  backOperation,
  forwardOperation,
  reloadOperation,
  stopOperation,
  page,
];
