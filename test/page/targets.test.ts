import { expect, test } from 'vitest';
import { click } from '../../src/page/actions/click.ts';
import { handleOf, resolveTarget } from '../../src/page/resolve-target.ts';
import type { Target } from '../../src/page/target.ts';
import { ActionPage, problem } from '../support/action-page.ts';

const page = new ActionPage({
  '/': `<button id=save>Save</button><button id=save2>Save all</button><label>Email <input id=mail placeholder="you@work"></label>
    <p data-testid=para>Some text here</p><ul><li class=row>one<li class=row>two<li class=row>three</ul><div id=host></div>
    <script>host.attachShadow({mode:'open'}).innerHTML='<button class=deep>Deep</button>'</script>`,
});
const idOf = async (target: Target) => {
  return page.run(async (op) => {
    const resolved = await resolveTarget(op, target);
    const objectId = await handleOf(op, resolved);
    const answer = await op.send(resolved.session, 'Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: 'function () { return this.id || this.className || this.localName }',
      returnByValue: true,
    });
    return answer.result.value;
  });
};

test.each<[Target, string]>([
  ['#save', 'save'],
  [{ selector: '#save' }, 'save'],
  [{ xpath: '//button[1]' }, 'save'],
  [{ role: 'button', name: 'Save all' }, 'save2'],
  [{ role: 'button', name: 'Save', exact: true }, 'save'],
  [{ text: 'Some text' }, 'p'],
  [{ label: 'Email' }, 'mail'],
  [{ placeholder: 'you@work' }, 'mail'],
  [{ testId: 'para' }, 'p'],
  [{ selector: '.row', nth: 2 }, 'row'],
  [{ selector: '.row', nth: -1 }, 'row'],
  ['.deep', 'deep'],
])('%j', async (target, id) => {
  await page.goto();
  expect(await idOf(target)).toBe(id);
});

test('a ref, bare, with @ and as an object, is the node that it was given to', async () => {
  await page.goto();
  const { ref } = await page.run((op) => resolveTarget(op, '#save2'));
  for (const target of [ref, `@${ref}`, { ref }, { ref: `@${ref}` }])
    expect(await idOf(target)).toBe('save2');
});

test('several matches are candidates with refs, that work', async () => {
  await page.goto();
  const error = await problem(
    page.run((op) => click(op, { target: { role: 'button', name: 'Save' } })),
    'ambiguous_target',
  );
  const candidates = error.extra['candidates'] as { ref: string; name: string }[];
  expect(candidates.map(({ name }) => name)).toEqual(['Save', 'Save all']);
  expect(await idOf(candidates[1]?.ref ?? '')).toBe('save2');
});

test('no match comes with what is close', async () => {
  await page.goto();
  const error = await problem(
    page.run((op) => click(op, { target: { role: 'button', name: 'Sav al' } })),
    'target_not_found',
  );
  expect(error.extra['candidates']).toContainEqual(expect.objectContaining({ name: 'Save all' }));
  const far = await problem(
    page.run((op) => click(op, { target: { selector: '.row', nth: 7 } })),
    'target_not_found',
  );
  expect(far.extra['count']).toBe(3);
});

test.each<[Target, RegExp]>([
  ['button[', /not a valid selector/],
  ['>> nth=0', /not a valid selector/],
  [{ xpath: '//button[' }, /not a valid XPath/],
  [{ xpath: 'count(//button)' }, /value, not elements/],
  [{}, /exactly one of/],
  [{ selector: 'a', text: 'b' }, /exactly one of/],
  [{ name: 'Save' }, /exactly one of/],
  [{ selector: 'a', name: 'Save' }, /goes with "role"/],
  [{ ref: '#save' }, /not a ref/],
])('%j cannot be understood, and fails at once', async (target, message) => {
  await page.goto();
  const error = await problem(
    page.run((op) => click(op, { target })),
    'invalid_target',
  );
  expect(error.message).toMatch(message);
});
