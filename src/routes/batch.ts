import { type Static, Type } from 'typebox';
import { defineOperation, type StepResult, TextStream } from './define.ts';
import type { Problem } from './problem.ts';

const Step = Type.Object(
  {
    op: Type.String({
      description: 'name of an operation, as GET /v1/capabilities lists it: click, fill, snapshot …',
    }),
  },
  { additionalProperties: true, description: 'the other members are the input of the operation' },
);

const BatchInput = Type.Object(
  {
    steps: Type.Array(Step, { minItems: 1, maxItems: 200 }),
    onError: Type.Optional(
      Type.Enum(['stop', 'continue'], {
        description: 'stop (default): the steps after a failed one are not run',
      }),
    ),
  },
  { additionalProperties: false },
);

const Result = Type.Object({
  op: Type.String(),
  ok: Type.Boolean(),
  result: Type.Optional(Type.Unknown({ 'x-untrusted': true, description: 'what the route would answer' })),
  problem: Type.Optional(Type.Unsafe<Static<typeof Problem>>({ $ref: 'Problem#' })),
});

const BatchResult = Type.Object({
  results: Type.Array(Result),
  failedIndex: Type.Optional(Type.Integer({ description: 'the first step that failed' })),
});

const NDJSON = 'application/x-ndjson';

const batch = defineOperation({
  name: 'batch',
  method: 'POST',
  path: '/v1/sessions/{id}/batch',
  summary:
    'Run many operations in one request; with Accept: application/x-ndjson a line comes with each step',
  description:
    'Each step has the input of its route and its own time limit, and waits for the lane like a request of its own. All names and inputs are checked before the first step runs.',
  tag: 'acting',
  scope: 'observer',
  input: BatchInput,
  result: Type.Unsafe<{ results: StepResult[]; failedIndex?: number }>(BatchResult),
  async run({ session, request, prepareStep }, { steps, onError = 'stop' }) {
    const runs = steps.map((step, index) => prepareStep(session, step, `/steps/${index}`));
    const results = inOrder(runs, onError, request.signal);
    if (String(request.headers.accept ?? '').includes(NDJSON)) return new TextStream(NDJSON, lines(results));
    const done = await Array.fromAsync(results);
    const failedIndex = done.findIndex((result) => !result.ok);
    return { results: done, ...(failedIndex === -1 ? {} : { failedIndex }) };
  },
});

async function* inOrder(
  runs: readonly (() => Promise<StepResult>)[],
  onError: 'stop' | 'continue',
  client: AbortSignal,
): AsyncGenerator<StepResult> {
  for (const run of runs) {
    if (client.aborted) return;
    const result = await run();
    yield result;
    if (!result.ok && onError === 'stop') return;
  }
}

async function* lines(results: AsyncIterable<StepResult>): AsyncGenerator<string> {
  for await (const result of results) yield `${JSON.stringify(result)}\n`;
}

export const batchOperations = [batch];
