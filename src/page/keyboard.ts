import { _keyDefinitions, type KeyDefinition } from 'puppeteer-core/internal/common/USKeyboardLayout.js';
import { AirlockError } from '../errors.ts';
import type { Protocol } from './cdp.ts';
import { modifierBit, platformModifier, SHIFT } from './modifiers.ts';
import type { Operation } from './operation.ts';

/** A key of the US layout, as CDP takes it. */
export interface Key {
  readonly key: string;
  readonly code: string;
  readonly keyCode: number;
  readonly location: number;
  /** What the key types; '' for a key that types nothing. */
  readonly text: string;
}

export interface Chord {
  readonly modifiers: readonly Key[];
  readonly key: Key;
}

const definitions = new Map<string, KeyDefinition>(Object.entries(_keyDefinitions));

/** Names that people use for keys, and the names that UI Events has for them. */
const ALIASES = new Map([
  ['ctrl', 'Control'],
  ['cmd', 'Meta'],
  ['command', 'Meta'],
  ['win', 'Meta'],
  ['super', 'Meta'],
  ['option', 'Alt'],
  ['opt', 'Alt'],
  ['esc', 'Escape'],
  ['return', 'Enter'],
  ['del', 'Delete'],
  ['ins', 'Insert'],
  ['spacebar', 'Space'],
  ['up', 'ArrowUp'],
  ['down', 'ArrowDown'],
  ['left', 'ArrowLeft'],
  ['right', 'ArrowRight'],
  ['pgup', 'PageUp'],
  ['pgdn', 'PageDown'],
  ['plus', '+'],
]);

const lowerNames = new Map(
  [...definitions.keys()].filter((name) => name.length > 1).map((name) => [name.toLowerCase(), name]),
);

/** What macOS does with a shortcut, which Chrome there leaves to the system: the editing command of a key with Meta. */
const MAC_COMMANDS = new Map([
  ['a', 'selectAll'],
  ['c', 'copy'],
  ['x', 'cut'],
  ['v', 'paste'],
  ['z', 'undo'],
]);

/** A character as it is typed. */
export interface Typed {
  readonly key: Key;
  /** CDP's modifiers: Shift for capitals and upper signs. */
  readonly bits: number;
}

/** @returns how a character is typed on the US layout, or `undefined` if no key has it */
export function keyOfCharacter(character: string): Typed | undefined {
  const definition = character.length === 1 && character !== '\0' ? definitions.get(character) : undefined;
  if (!definition) return undefined;
  const key = toKey(definition, false);
  const upper = definitions.get(key.code)?.shiftKey === character;
  return { key, bits: upper ? SHIFT : 0 };
}

/**
 * Takes apart `Control+Shift+A`, `Enter`, `a`, `+`, `ControlOrMeta+K`. Names are those of UI Events (`key` or `code`),
 * whatever the case, and what people call keys (`Ctrl`, `Esc`, `Cmd`, `Del`).
 * @throws AirlockError `invalid_request` for a name that no key has, with those that are near
 */
export function parseChord(text: string): Chord {
  const names = splitChord(text);
  const last = names.pop() ?? '';
  const modifiers = names.map((name) => {
    const key = keyNamed(name, false);
    if (modifierBit(key.key) !== 0) return key;
    throw new AirlockError(
      'invalid_request',
      `${JSON.stringify(name)} in ${JSON.stringify(text)} is not a modifier`,
    );
  });
  return {
    modifiers,
    key: keyNamed(
      last,
      modifiers.some(({ key }) => key === 'Shift'),
    ),
  };
}

/** `+` is both the joint and a key: `Control++`, `+`. */
function splitChord(text: string): string[] {
  if (text === '+') return ['+'];
  return text.endsWith('++') ? [...text.slice(0, -2).split('+'), '+'] : text.split('+');
}

function keyNamed(name: string, shifted: boolean): Key {
  const alias = ALIASES.get(name.toLowerCase());
  const known = /^(controlormeta|mod)$/i.test(name) ? platformModifier() : (alias ?? name);
  const exact = definitions.get(known) ?? definitions.get(lowerNames.get(known.toLowerCase()) ?? '');
  if (exact && known !== '\0') return toKey(exact, shifted);
  if ([...known].length === 1) return { key: known, code: '', keyCode: 0, location: 0, text: known };
  const near = nearNames(known);
  throw new AirlockError(
    'invalid_request',
    `There is no key ${JSON.stringify(name)}; near it: ${near.join(', ')}`,
    {
      extra: { near },
    },
  );
}

function toKey(named: KeyDefinition, shifted: boolean): Key {
  // The row of a character has no shifted form; the row of its key (`Digit1`, `KeyA`) has.
  const row = shifted && named.shiftKey === undefined ? definitions.get(named.code ?? '') : undefined;
  const definition = row?.shiftKey === undefined ? named : row;
  const key = (shifted ? definition.shiftKey : undefined) ?? definition.key ?? '';
  const typed =
    (shifted ? definition.shiftText : undefined) ?? definition.text ?? (key.length === 1 ? key : '');
  return {
    key,
    code: definition.code ?? '',
    keyCode: (shifted ? definition.shiftKeyCode : undefined) ?? definition.keyCode ?? 0,
    location: definition.location ?? 0,
    text: typed,
  };
}

function nearNames(name: string): string[] {
  const all = [...lowerNames.values(), 'Ctrl', 'Cmd', 'Esc'];
  const scored = all.map((other) => ({ other, distance: distance(name.toLowerCase(), other.toLowerCase()) }));
  scored.sort((a, b) => a.distance - b.distance);
  return scored.slice(0, 4).map(({ other }) => other);
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Presses and releases a chord: modifiers down, the key, modifiers up, in the order that a hand has. */
export async function pressChord(op: Operation, { modifiers, key }: Chord): Promise<void> {
  let bits = 0;
  const sent: Promise<unknown>[] = [];
  for (const modifier of modifiers) {
    bits |= modifierBit(modifier.key);
    sent.push(dispatch(op, 'rawKeyDown', modifier, bits));
  }
  sent.push(...keyStroke(op, key, bits));
  for (const modifier of modifiers.toReversed()) {
    bits &= ~modifierBit(modifier.key);
    sent.push(dispatch(op, 'keyUp', modifier, bits));
  }
  await Promise.all(sent);
}

/** Sends one key, down and up; resolves by its parts. */
export function keyStroke(op: Operation, key: Key, bits: number): Promise<unknown>[] {
  const types = key.text !== '' && (bits & ~SHIFT) === 0;
  const own = modifierBit(key.key);
  return [dispatch(op, types ? 'keyDown' : 'rawKeyDown', key, bits | own), dispatch(op, 'keyUp', key, bits)];
}

function dispatch(
  op: Operation,
  type: 'keyDown' | 'rawKeyDown' | 'keyUp',
  key: Key,
  modifiers: number,
): Promise<unknown> {
  const event: Protocol.Input.DispatchKeyEventRequest = {
    type,
    modifiers,
    key: key.key,
    code: key.code,
    windowsVirtualKeyCode: key.keyCode,
    location: key.location,
    isKeypad: key.location === 3,
  };
  if (type === 'keyDown') Object.assign(event, { text: key.text, unmodifiedText: key.text });
  const command =
    process.platform === 'darwin' && modifiers === 4 ? MAC_COMMANDS.get(key.key.toLowerCase()) : undefined;
  if (command !== undefined && type !== 'keyUp') event.commands = [command];
  return op.main('Input.dispatchKeyEvent', event);
}
