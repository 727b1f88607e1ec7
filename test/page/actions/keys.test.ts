import { describe, expect, test } from 'vitest';
import { press } from '../../../src/page/actions/press.ts';
import { parseChord } from '../../../src/page/keyboard.ts';
import { ActionPage, problem } from '../../support/action-page.ts';

const page = new ActionPage({
  '/': `<input id=i value=abc><button id=b onclick="h.push('clicked')">b</button><select id=s><option>a<option>b</select><p id=p>text</p>
    <script>h=[];addEventListener('keydown',e=>h.push([e.ctrlKey&&'C',e.shiftKey&&'S',e.altKey&&'A',e.metaKey&&'M',e.key,e.code,e.keyCode].filter(Boolean).join(' ')))</script>`,
});

describe('chords', () => {
  test.each([
    ['Enter', [], 'Enter'],
    ['a', [], 'a'],
    ['A', [], 'A'],
    ['+', [], '+'],
    ['Control++', ['Control'], '+'],
    ['Control+Shift+A', ['Control', 'Shift'], 'A'],
    ['ctrl+shift+a', ['Control', 'Shift'], 'A'],
    ['Shift+1', ['Shift'], '!'],
    ['Cmd+k', ['Meta'], 'k'],
    ['esc', [], 'Escape'],
    ['ArrowDown', [], 'ArrowDown'],
    ['down', [], 'ArrowDown'],
    ['F5', [], 'F5'],
    ['KeyA', [], 'a'],
    ['Space', [], ' '],
    ['é', [], 'é'],
  ])('%s', (text, modifiers, key) => {
    const chord = parseChord(text);
    expect([chord.modifiers.map((one) => one.key), chord.key.key]).toEqual([modifiers, key]);
  });

  test('an unknown key lists near names', async () => {
    const error = await problem(
      page.run((op) => press(op, { key: 'Entr' })),
      'invalid_request',
    );
    expect(error.extra['near']).toContain('Enter');
    await problem(
      page.run((op) => press(op, { key: 'Foo+A' })),
      'invalid_request',
    );
    await problem(
      page.run((op) => press(op, { key: 'A+b' })),
      'invalid_request',
    );
  });
});

test('keys reach the target with their modifiers, and do what they do', async () => {
  await page.goto();
  await page.run((op) => press(op, { target: '#i', key: 'Control+Shift+K' }));
  await page.run((op) => press(op, { key: 'ControlOrMeta+A' }));
  await page.run((op) => press(op, { key: 'x' }));
  await page.run((op) => press(op, { key: 'Backspace' }));
  await page.run((op) => press(op, { key: 'é' }));
  expect(await page.eval('i.value')).toBe('é');
  expect(await page.eval('h[0] + "|" + h[1] + "|" + h[2]')).toBe(
    'C Control ControlLeft 17|C S Shift ShiftLeft 16|C S K KeyK 75',
  );
  await page.run((op) => press(op, { target: '#b', key: 'Enter' }));
  await page.run((op) => press(op, { target: '#b', key: 'Space' }));
  expect(await page.eval('h.filter(x => x === "clicked").length')).toBe(2);
  await page.run((op) => press(op, { target: '#s', key: 'ArrowDown' }));
  expect(await page.eval('s.value')).toBe('b');
  await page.run((op) => press(op, { target: '#i', key: 'Tab' }));
  expect(await page.eval('document.activeElement.id')).toBe('b');
});

test('count repeats a key', async () => {
  await page.goto();
  await page.run((op) => press(op, { target: '#i', key: 'z', count: 3 }));
  expect(await page.eval('i.value.replace("abc", "")')).toBe('zzz');
});

test('what does not take the focus is not pressed', async () => {
  await page.goto();
  await problem(
    page.run((op) => press(op, { target: '#p', key: 'x' })),
    'not_interactable',
  );
  expect(await page.eval('h')).toEqual([]);
});
