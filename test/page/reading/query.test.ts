import { expect, test } from 'vitest';
import { query } from '../../../src/page/reading/query.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({ '/': '<title>Blank</title><body>' });

async function ask(body: string, input: Parameters<typeof query>[1]) {
  await page.goto();
  await page.eval(`document.body.innerHTML = ${JSON.stringify(body)}; 0`);
  return page.run((op) => query(op, input));
}

test('all facts of one element', async () => {
  const body =
    '<div style="position:absolute;left:10px;top:20px;width:100px;height:30px;color:rgb(1,2,3)" id=d data-x="1 &amp; 2">Some <b>text</b></div>';
  const answer = await ask(body, {
    target: '#d',
    props: ['text', 'value', 'html', 'attributes', 'box', 'state', 'style', 'count'],
  });
  expect(answer).toMatchObject({
    text: 'Some text',
    value: null,
    attributes: { id: 'd', 'data-x': '1 & 2' },
    box: { x: 10, y: 20, width: 100, height: 30 },
    state: { visible: true, enabled: true, editable: false, focused: false, checked: null },
    style: { color: 'rgb(1, 2, 3)', position: 'absolute' },
    count: 1,
  });
  expect(answer.html).toMatch(/^<div .*<b>text<\/b><\/div>$/);
  expect(answer.ref).toMatch(/^e\d+$/);
});

test('only what was asked for', async () => {
  const answer = await ask('<p>a', { target: 'p', props: ['text'] });
  expect(Object.keys(answer).sort()).toEqual(['ref', 'text']);
});

test.each([
  ['<input value=old>', 'input', 'typed'],
  ['<textarea>old</textarea>', 'textarea', 'typed'],
  ['<select><option value=a>A<option value=typed selected>B</select>', 'select', 'typed'],
])('the value of %s is the live one', async (body, target, expected) => {
  await page.goto();
  await page.eval(
    `document.body.innerHTML = ${JSON.stringify(body)}; const f = document.querySelector(${JSON.stringify(target)}); if (f.localName !== 'select') f.value = 'typed'; 0`,
  );
  expect((await page.run((op) => query(op, { target, props: ['value'] }))).value).toBe(expected);
});

test('several choices are a list', async () => {
  const answer = await ask('<select multiple><option selected>a<option>b<option selected>c</select>', {
    target: 'select',
    props: ['value'],
  });
  expect(answer.value).toEqual(['a', 'c']);
});

test('what a password holds is told nowhere', async () => {
  await page.goto();
  await page.eval(`document.body.innerHTML = '<form><input type=password value=s3cret name=p></form>'; 0`);
  for (const target of ['input', 'form']) {
    const answer = await page.run((op) =>
      query(op, { target, props: ['text', 'value', 'html', 'attributes', 'state'] }),
    );
    expect(JSON.stringify(answer)).not.toContain('s3cret');
    expect(JSON.stringify(answer)).toContain('[redacted]');
  }
});

test('states', async () => {
  const body =
    '<input id=a readonly><input id=b disabled><input id=c type=checkbox checked><input id=d style="display:none"><div id=e role=checkbox aria-checked=mixed aria-label=E>x</div>';
  await page.goto();
  await page.eval(
    `document.body.innerHTML = ${JSON.stringify(body)}; document.getElementById('a').focus(); 0`,
  );
  const stateOf = async (target: string) =>
    (await page.run((op) => query(op, { target, props: ['state'] }))).state;
  expect(await stateOf('#a')).toMatchObject({ editable: false, enabled: true, focused: true });
  expect(await stateOf('#b')).toMatchObject({ enabled: false, editable: false });
  expect(await stateOf('#c')).toMatchObject({ role: 'checkbox', checked: true });
  expect(await stateOf('#d')).toMatchObject({ visible: false });
  expect(await stateOf('#e')).toMatchObject({ role: 'checkbox', name: 'E', checked: 'mixed' });
});

test('what has no box has none', async () => {
  expect((await ask('<p style="display:none">x', { target: 'p', props: ['box'] })).box).toBeNull();
});

test('styles by name', async () => {
  const answer = await ask('<p style="--own: 7px; margin-top: 3px">x', {
    target: 'p',
    props: ['style'],
    styles: ['--own', 'margin-top', 'none-such'],
  });
  expect(answer.style).toEqual({ '--own': '7px', 'margin-top': '3px', 'none-such': '' });
});

test('count alone: any number will do', async () => {
  expect(await ask('<p>a<p>b<p>c', { target: 'p', props: ['count'] })).toEqual({ count: 3 });
  expect(await ask('<p>a', { target: '#none', props: ['count'] })).toEqual({ count: 0 });
  await problem(ask('<p>a', { target: 'a[', props: ['count'] }), 'invalid_target');
});

test('several matches are an error, unless all are asked for', async () => {
  const body = '<ul><li>a<li>b<li>c</ul>';
  await problem(ask(body, { target: 'li', props: ['text'] }), 'ambiguous_target');
  const answer = await ask(body, { target: 'li', props: ['text'], all: true, limit: 2 });
  expect(answer.count).toBe(3);
  expect(answer.elements?.map(({ text }) => text)).toEqual(['a', 'b']);
  expect((await ask(body, { target: '#none', props: ['text'], all: true })).elements).toEqual([]);
  expect((await ask(body, { target: { role: 'listitem' }, props: ['text'], all: true })).count).toBe(3);
  await problem(ask(body, { target: 'li[', props: ['text'], all: true }), 'invalid_target');
});

test('long text and HTML are cut, and said to be', async () => {
  const answer = await ask(`<p>${'😀'.repeat(50)}</p>`, {
    target: 'p',
    props: ['text', 'html'],
    maxChars: 21,
  });
  expect(answer.text).toBe('😀'.repeat(10));
  expect(answer.html).toBe(`<p>${'😀'.repeat(9)}`);
  expect(answer.truncated).toEqual(['text', 'html']);
});
