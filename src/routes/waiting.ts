import { Type } from 'typebox';
import { AssertInput, type AssertResult, assert } from '../page/assert.ts';
import { WaitInput, type WaitResult, wait } from '../page/wait.ts';
import { defineOperation } from './define.ts';

const tag = 'waiting';
const Seen = Type.Record(Type.String(), Type.Unknown(), {
  'x-untrusted': true,
  description: 'what was seen of each condition',
});
/** What a condition names may be wrong in the same ways as a target. */
const errors = ['invalid_target', 'frame_not_found', 'ambiguous_target', 'stale_ref'] as const;

const waitOperation = defineOperation({
  name: 'wait',
  method: 'POST',
  path: '/v1/sessions/{id}/wait',
  summary: 'Wait until all given conditions hold: selector, text, url, function, response, network idle',
  tag,
  scope: 'page',
  input: WaitInput,
  result: Type.Unsafe<WaitResult>(
    Type.Object({
      ok: Type.Literal(true),
      tab: Type.String(),
      url: Type.String({ 'x-untrusted': true }),
      waitedMs: Type.Integer(),
      seen: Seen,
    }),
  ),
  timeoutMs: 30_000,
  errors: [...errors, 'evaluation_error'],
  run: ({ op }, input) => wait(op, input),
});

const assertOperation = defineOperation({
  name: 'assert',
  method: 'POST',
  path: '/v1/sessions/{id}/assert',
  summary: 'Check conditions on the page, the console and the network; 409 with what was seen',
  tag,
  scope: 'page',
  input: AssertInput,
  result: Type.Unsafe<AssertResult>(Type.Object({ passed: Type.Literal(true), seen: Type.Optional(Seen) })),
  errors: [...errors, 'assertion_failed', 'evaluation_error'],
  run: ({ op }, input) => assert(op, input),
});

export const waitingOperations = [waitOperation, assertOperation];
