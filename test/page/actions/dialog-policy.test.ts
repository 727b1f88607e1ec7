import { expect, test } from 'vitest';
import { click } from '../../../src/page/actions/click.ts';
import { answerByPolicy } from '../../../src/page/dialogs.ts';
import { ActionPage } from '../../support/action-page.ts';

const page = new ActionPage(
  {
    '/': `<button id=b onclick="r=[confirm('sure?'),prompt('name','dflt')]">Ask</button><a href="/other">away</a>
      <script>r=0;onbeforeunload=e=>e.preventDefault()</script>`,
    '/other': '<p>other',
  },
  { dialogs: 'accept' },
);

test('under a policy that accepts, an action goes on through its dialogs and tells of them', async () => {
  answerByPolicy(page.tab, 'accept', (error) => expect.unreachable(String(error)));
  await page.goto();
  const result = await page.run((op) => click(op, { target: '#b' }));
  expect(result.dialog).toMatchObject({ message: 'name', answered: 'accept' });
  expect(await page.eval('r')).toEqual([true, 'dflt']);
  const left = await page.run((op) => click(op, { target: 'a' }));
  expect(left).toMatchObject({
    navigated: true,
    url: page.server.url('/other'),
    dialog: { type: 'beforeunload', answered: 'accept' },
  });
});
