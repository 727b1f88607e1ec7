import { Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import {
  ClearCookiesResult,
  CookiesResult,
  DeleteCookieInput,
  DeleteCookieResult,
  GetCookiesInput,
  SetCookiesInput,
} from '../page/cookie-schema.ts';
import { clearCookies, deleteCookie, getCookies, setCookies } from '../page/cookies.ts';
import { evaluate } from '../page/eval/evaluate.ts';
import { EvalInput, EvalResult } from '../page/eval/schema.ts';
import { getState, setState } from '../page/state.ts';
import { clearStorage, getStorage, setStorage } from '../page/storage.ts';
import {
  ClearStorageResult,
  SetStateResult,
  SetStorageInput,
  StateResult,
  StorageInput,
  StorageResult,
  StorageState,
} from '../page/storage-schema.ts';
import { defineOperation, STATE_BODY_LIMIT } from './define.ts';

const evalOperation = defineOperation({
  name: 'eval',
  method: 'POST',
  path: '/v1/sessions/{id}/eval',
  summary: 'Run a script in the page and get its value; what JSON cannot say is tagged',
  tag: 'evaluate and state',
  scope: 'page',
  input: EvalInput,
  result: EvalResult,
  errors: ['evaluation_error', 'frame_not_found', 'stale_ref'],
  run: ({ op }, input) => evaluate(op, input),
});

const listCookies = defineOperation({
  name: 'cookies.get',
  method: 'GET',
  path: '/v1/sessions/{id}/cookies',
  summary: 'The cookies of the session, partitioned ones with their key',
  tag: 'evaluate and state',
  scope: 'page',
  input: GetCookiesInput,
  result: CookiesResult,
  run: ({ op }, input) => getCookies(op, input),
});

const storeCookies = defineOperation({
  name: 'cookies.set',
  method: 'POST',
  path: '/v1/sessions/{id}/cookies',
  summary: 'Set cookies; each is read back, and what Chrome dropped is an error naming the rule',
  tag: 'evaluate and state',
  scope: 'page',
  input: SetCookiesInput,
  result: CookiesResult,
  errors: ['cookie_rejected'],
  run: ({ op }, input) => setCookies(op, input),
});

const removeCookie = defineOperation({
  name: 'cookies.delete',
  method: 'DELETE',
  path: '/v1/sessions/{id}/cookies/{name}',
  summary: 'Delete the cookies of a name; a partitioned one by its key',
  tag: 'evaluate and state',
  scope: 'page',
  input: DeleteCookieInput,
  result: DeleteCookieResult,
  errors: ['cookie_not_found'],
  run: ({ op }, input) => deleteCookie(op, input),
});

const removeCookies = defineOperation({
  name: 'cookies.clear',
  method: 'DELETE',
  path: '/v1/sessions/{id}/cookies',
  summary: 'Delete all cookies of the session, partitioned ones too',
  tag: 'evaluate and state',
  scope: 'page',
  input: Type.Object({}, { additionalProperties: false }),
  result: ClearCookiesResult,
  run: ({ op }) => clearCookies(op),
});

/** Each origin that is not shown costs a navigation within Chrome. */
const STATE_TIMEOUT_MS = 30_000;

const readState = defineOperation({
  name: 'state.get',
  method: 'GET',
  path: '/v1/sessions/{id}/state',
  summary: 'Cookies and localStorage as the storageState JSON of Playwright',
  tag: 'evaluate and state',
  scope: 'page',
  input: Type.Object({}, { additionalProperties: false }),
  result: StateResult,
  timeoutMs: STATE_TIMEOUT_MS,
  errors: ['storage_rejected'],
  run: ({ op }) => getState(op),
});

const writeState = defineOperation({
  name: 'state.set',
  method: 'PUT',
  path: '/v1/sessions/{id}/state',
  summary:
    'Make a storageState the state of the session, without the network; each cookie and item is read back',
  tag: 'evaluate and state',
  scope: 'page',
  input: StorageState,
  result: SetStateResult,
  timeoutMs: STATE_TIMEOUT_MS,
  bodyLimit: STATE_BODY_LIMIT,
  errors: ['cookie_rejected', 'storage_rejected'],
  async run({ op }, input) {
    if (input.cookies !== undefined || input.origins !== undefined) return setState(op, input);
    // Not "nothing, then": what is there would be gone.
    const detail = 'A state has cookies or origins; to empty it, send both as empty lists';
    throw new AirlockError('invalid_request', detail, { extra: { pointer: '' } });
  },
});

const readStorage = defineOperation({
  name: 'storage.get',
  method: 'GET',
  path: '/v1/sessions/{id}/storage/{area}',
  summary: 'What an origin has in localStorage or sessionStorage',
  tag: 'evaluate and state',
  scope: 'page',
  input: StorageInput,
  result: StorageResult,
  errors: ['storage_rejected', 'frame_not_found'],
  run: ({ op }, input) => getStorage(op, input),
});

const writeStorage = defineOperation({
  name: 'storage.set',
  method: 'PUT',
  path: '/v1/sessions/{id}/storage/{area}',
  summary: 'Make the items all that an origin has in localStorage or sessionStorage; each is read back',
  tag: 'evaluate and state',
  scope: 'page',
  input: SetStorageInput,
  bodyLimit: STATE_BODY_LIMIT,
  result: StorageResult,
  errors: ['storage_rejected', 'frame_not_found'],
  run: ({ op }, input) => setStorage(op, input),
});

const emptyStorage = defineOperation({
  name: 'storage.clear',
  method: 'DELETE',
  path: '/v1/sessions/{id}/storage/{area}',
  summary: 'Empty localStorage or sessionStorage of an origin',
  tag: 'evaluate and state',
  scope: 'page',
  input: StorageInput,
  result: ClearStorageResult,
  errors: ['storage_rejected', 'frame_not_found'],
  run: ({ op }, input) => clearStorage(op, input),
});

export const stateOperations = [
  evalOperation,
  listCookies,
  storeCookies,
  removeCookie,
  removeCookies,
  readState,
  writeState,
  readStorage,
  writeStorage,
  emptyStorage,
];
