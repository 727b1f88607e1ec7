import { Type } from 'typebox';
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
import { defineOperation } from './define.ts';

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

export const stateOperations = [evalOperation, listCookies, storeCookies, removeCookie, removeCookies];
