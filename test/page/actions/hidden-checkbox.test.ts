import { describe, expect, test } from 'vitest';
import { check, uncheck } from '../../../src/page/actions/check.ts';
import { click } from '../../../src/page/actions/click.ts';
import { resolveTarget } from '../../../src/page/resolve-target.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const styles = {
  'of no size': 'width:0;height:0',
  transparent: 'opacity:0;position:absolute',
  'clipped to nothing': 'position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden',
  'not displayed': 'display:none',
  invisible: 'visibility:hidden',
  'off the screen': 'position:absolute;left:-9999px',
};
const labels = Object.values(styles)
  .map(
    (style, at) =>
      `<p><label><input id=c${at} type=checkbox style="${style}"><span>Text ${at}</span></label>`,
  )
  .join('');

const page = new ActionPage({
  '/': `${labels}<script>n=0;document.onchange=()=>n++</script>`,
  '/radio': `<form><label style="cursor:pointer"><input type=radio name=v value=n style="display:none">Never</label>
    <label style="cursor:pointer"><input type=radio name=v value=y style="display:none">Often</label></form>
    <script>n=0;document.forms[0].onchange=()=>n++</script>`,
  '/terms': `<label><input id=c type=checkbox style="position:absolute;opacity:0;width:0;height:0">I have read the
    <a href="/elsewhere" style="padding:20px 90px">terms and conditions of use</a> yes</label>`,
  '/aria': `<div id=s role=switch aria-checked=false tabindex=0 onclick="setTimeout(()=>this.setAttribute('aria-checked',this.getAttribute('aria-checked')!=='true'),40)">Dark</div>
    <button id=p aria-pressed=false onclick="this.setAttribute('aria-pressed',this.getAttribute('aria-pressed')!=='true')">Bold</button>
    <input id=m type=checkbox><script>m.indeterminate=true</script>
    <input id=stuck type=checkbox onclick="return false"><button id=no>plain</button><input id=r type=radio checked>`,
});

describe.each(Object.entries(styles))('a checkbox that is %s', (_, style) => {
  const id = `#c${Object.values(styles).indexOf(style)}`;

  test.each(['selector', 'ref'])('is set and unset by %s, with one change each', async (by) => {
    await page.goto();
    const target = by === 'ref' ? await page.run(async (op) => (await resolveTarget(op, id)).ref) : id;
    const seen: unknown[] = [];
    for (const action of [check, uncheck, check, check]) {
      await page.run((op) => action(op, { target }));
      seen.push(await page.eval(`[document.querySelector('${id}').checked, n]`));
    }
    expect(seen).toEqual([
      [true, 1],
      [false, 2],
      [true, 3],
      [true, 3],
    ]);
  });
});

test('the label of a radio that is not displayed chooses it', async () => {
  await page.goto('/radio');
  await page.run((op) => click(op, { target: { text: 'Often' } }));
  expect(await page.eval('[document.forms[0].v.value, n]')).toEqual(['y', 1]);
  await page.run((op) => check(op, { target: '[value=n]' }));
  expect(await page.eval('[document.forms[0].v.value, n]')).toEqual(['n', 2]);
});

test('a link inside the label is not what is clicked', async () => {
  await page.goto('/terms');
  const result = await page.run((op) => check(op, { target: '#c' }));
  expect(result.navigated).toBe(false);
  expect(await page.eval('document.querySelector("#c").checked')).toBe(true);
});

test('ARIA switches and toggle buttons are set, also when the page shows it late', async () => {
  await page.goto('/aria');
  await page.run((op) => check(op, { target: '#s' }));
  await page.run((op) => check(op, { target: '#s' }));
  await page.run((op) => check(op, { target: '#p' }));
  expect(await page.eval('[s.ariaChecked, p.ariaPressed]')).toEqual(['true', 'true']);
  await page.run((op) => uncheck(op, { target: '#s' }));
  expect(await page.eval('s.ariaChecked')).toBe('false');
});

test('a mixed checkbox is brought to either state', async () => {
  await page.goto('/aria');
  await page.run((op) => uncheck(op, { target: '#m' }));
  expect(await page.eval('[m.checked, m.indeterminate]')).toEqual([false, false]);
});

test('what does not take the state is an error', async () => {
  await page.goto('/aria');
  const stuck = await problem(
    page.run((op) => check(op, { target: '#stuck' })),
    'not_verified',
  );
  expect(stuck.extra).toMatchObject({ expected: 'true', actual: 'false' });
  await problem(
    page.run((op) => check(op, { target: '#no' })),
    'not_interactable',
  );
  await problem(
    page.run((op) => uncheck(op, { target: '#r' })),
    'not_interactable',
  );
});
