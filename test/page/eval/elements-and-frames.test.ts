import { afterAll, beforeEach, expect, test } from 'vitest';
import { evaluate } from '../../../src/page/eval/evaluate.ts';
import { navigate } from '../../../src/page/navigate.ts';
import { PageHarness, PageServer } from '../../support/page-harness.ts';
import { problemOf } from '../../support/problem-of.ts';

const server = await PageServer.open({
  '/': `<title>top</title><h1 id=h data-x="1">Head</h1><button>Go</button><iframe name=same src="/in"></iframe>
    <iframe name=cross src="/cross"></iframe><script>here = 'top'</script>`,
  '/in': '<p>in</p><script>here = "in"</script>',
  '/cross': (request, response) => {
    const { port } = new URL(`http://${request.headers.host}/`);
    response.writeHead(302, { location: `http://localhost:${port}/in` }).end();
  },
});
const chrome = await PageHarness.open();
afterAll(async () => {
  await chrome[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await chrome.run((op) => navigate(op, { url: server.url('/') }));
});

test('an element comes with a ref that a function takes back, in either world', async () => {
  const found = await chrome.run((op) =>
    evaluate(op, { expression: 'document.querySelectorAll("h1, button")' }),
  );
  const [head, button] = (found.value as { value: Record<string, unknown>[] }).value;
  expect(head).toMatchObject({
    $type: 'node',
    name: 'h1',
    attributes: { id: 'h', 'data-x': '1' },
    ref: expect.stringMatching(/^e\d+$/),
  });
  for (const world of ['main', 'isolated'] as const) {
    const answer = await chrome.run((op) =>
      evaluate(op, {
        function: '(a, n, b) => [a.textContent, n, b.id]',
        args: [{ ref: button?.['ref'] }, 1, { ref: head?.['ref'] }],
        world,
      }),
    );
    expect(answer.value).toEqual(['Go', 1, 'h']);
  }
  const same = await chrome.run((op) => evaluate(op, { expression: '[document.querySelector("h1")]' }));
  expect(same.value).toMatchObject([{ ref: head?.['ref'] }]);
});

test('a target is the first argument', async () => {
  const answer = await chrome.run((op) =>
    evaluate(op, { function: '(element, n) => [element.id, n]', target: { role: 'heading' }, args: [2] }),
  );
  expect(answer.value).toEqual(['h', 2]);
});

test('a ref of an element that is gone is stale, not null', async () => {
  const found = await chrome.run((op) => evaluate(op, { expression: 'document.querySelector("button")' }));
  const ref = (found.value as { ref: string }).ref;
  await chrome.run((op) => evaluate(op, { expression: 'document.querySelector("button").remove()' }));
  const use = () => problemOf(chrome.run((op) => evaluate(op, { function: '(e) => 1', args: [{ ref }] })));
  expect((await use()).code).toBe('stale_ref');
  await chrome.run((op) => navigate(op, { url: server.url('/') }));
  expect((await use()).code).toBe('stale_ref');
});

test('nodes outside of the document have no ref', async () => {
  const { value } = await chrome.run((op) => evaluate(op, { expression: '[document.createElement("i")]' }));
  expect(value).toEqual([{ $type: 'node', nodeType: 1, name: 'i', attributes: {}, children: 0 }]);
});

test('a frame is named by its place, its name or its URL, in this process or another', async () => {
  const where = (frame?: string) =>
    chrome.run((op) => evaluate(op, { expression: '[here, location.hostname]', ...(frame && { frame }) }));
  expect((await where()).value).toEqual(['top', '127.0.0.1']);
  expect((await where('main')).value).toEqual(['top', '127.0.0.1']);
  expect((await where('same')).value).toEqual(['in', '127.0.0.1']);
  expect((await where('localhost')).value).toEqual(['in', 'localhost']);
  expect((await problemOf(where('f99'))).code).toBe('frame_not_found');
  const inFrame = await chrome.run((op) =>
    evaluate(op, { expression: 'document.querySelector("p")', frame: 'same' }),
  );
  const ref = (inFrame.value as { ref: string }).ref;
  expect(ref).toMatch(/^f\d+e\d+$/);
  const answer = await chrome.run((op) =>
    evaluate(op, { function: '(p) => [p.textContent, here]', args: [{ ref }] }),
  );
  expect(answer.value).toEqual(['in', 'in']);
  const problem = await problemOf(
    chrome.run((op) => evaluate(op, { function: '(p) => 1', args: [{ ref }], frame: 'main' })),
  );
  expect(problem.code).toBe('invalid_request');
});

test.each([
  [{}, '/expression'],
  [{ expression: '1', function: '() => 1' }, '/expression'],
  [{ expression: '1', args: [1] }, '/args'],
  [{ expression: '1', target: 'h1' }, '/target'],
  [{ function: '1 + 1' }, '/function'],
])('%o is refused', async (input, pointer) => {
  expect(await problemOf(chrome.run((op) => evaluate(op, input)))).toMatchObject({
    code: 'invalid_request',
    extra: { pointer },
  });
});
