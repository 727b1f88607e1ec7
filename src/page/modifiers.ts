/** Bits of CDP's `modifiers` (Input domain). */
const BITS: ReadonlyMap<string, number> = new Map([
  ['Alt', 1],
  ['Control', 2],
  ['Meta', 4],
  ['Shift', 8],
]);

export const SHIFT = 8;

/** @returns the bit of a modifier key, 0 for any other key */
export function modifierBit(key: string): number {
  return BITS.get(key) ?? 0;
}

/** The key that shortcuts use: Command on macOS, Control elsewhere. */
export function platformModifier(): 'Control' | 'Meta' {
  return process.platform === 'darwin' ? 'Meta' : 'Control';
}

export type Modifier = 'Alt' | 'Control' | 'Meta' | 'Shift' | 'ControlOrMeta';

export function modifierBits(modifiers: readonly Modifier[]): number {
  let bits = 0;
  for (const modifier of modifiers)
    bits |= modifierBit(modifier === 'ControlOrMeta' ? platformModifier() : modifier);
  return bits;
}
