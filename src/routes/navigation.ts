import { NavigateInput, NavigateResult, navigate } from '../page/navigate.ts';
import { defineOperation } from './define.ts';

const navigateOperation = defineOperation({
  name: 'navigate',
  method: 'POST',
  path: '/v1/sessions/{id}/navigate',
  summary: 'Go to a URL and wait for it; a 404 or 500 page is a success with that status',
  tag: 'navigation',
  scope: 'page',
  input: NavigateInput,
  result: NavigateResult,
  timeoutMs: 30_000,
  errors: ['policy_denied', 'navigation_failed'],
  run: ({ op }, input) => navigate(op, input),
});

export const navigationOperations = [navigateOperation];
