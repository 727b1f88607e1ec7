import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, bench, launch } from './harness.ts';
import { compare, type Difference } from './oracle.ts';

const pages = new URL('../../fixtures/pages/', import.meta.url);

let browser: Browser;
let page: Bench;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
});
afterAll(() => browser.close());

/** Differences that are meant, each by what identifies it and why it is so. */
const accepted: { matches: Partial<Difference>; why: string }[] = [
  {
    matches: { kind: 'state', engine: 'option selected false', ours: 'selected disabled' },
    why: 'an option that is disabled can be the selected one; the live state says so',
  },
  {
    matches: { kind: 'no-ref', engine: 'option "hidden option"' },
    why: 'a hidden option cannot be chosen by a person',
  },
  { matches: { kind: 'no-ref', engine: 'option "none option"' }, why: 'as above' },
  {
    matches: { kind: 'extra-ref', engine: 'absent', ours: 'button "CV auto off screen"' },
    why: 'the engine leaves out what content-visibility: auto has not laid out yet; scrolling to it shows it',
  },
  {
    matches: { kind: 'role', engine: 'generic', ours: 'treeitem' },
    why: 'a focusable tree item outside of a tree; its author said what it is',
  },
  {
    matches: { kind: 'role', engine: 'LayoutTableCell', ours: 'columnheader' },
    why: 'the engine takes a table with one cell for layout; a th is a header all the same',
  },
  {
    matches: { kind: 'role', engine: 'generic', ours: 'textbox' },
    why: 'an editing host takes text, so an agent must see it as a field',
  },
  {
    matches: { kind: 'no-ref', engine: 'button "in canvas"' },
    why: 'canvas fallback content is not painted: there is nowhere to click',
  },
  { matches: { kind: 'no-text', engine: 'in canvas' }, why: 'as above' },
  { matches: { kind: 'role', engine: 'MathMLIdentifier' }, why: 'MathML is printed as its text' },
  { matches: { kind: 'role', engine: 'MathMLOperator' }, why: 'as above' },
  { matches: { kind: 'role', engine: 'MathMLNumber' }, why: 'as above' },
  {
    matches: { kind: 'no-text', engine: '𝑥' },
    why: 'the engine writes MathML identifiers in mathematical italic',
  },
  {
    matches: { kind: 'extra-text', ours: '漢kan' },
    why: 'ruby runs together on one line, as adjacent inline text does',
  },
  {
    matches: { kind: 'state', engine: 'button pressed false', ours: 'pressed' },
    why: 'aria-pressed on a checkbox that is a button: the engine reads checkedness, we what the author wrote',
  },
  {
    matches: { kind: 'state', engine: 'menuitem selected false' },
    why: 'a native option that is the selected one, whatever its role',
  },
  {
    matches: { kind: 'role', engine: 'generic', ours: 'cell' },
    why: 'a td in a table that is said to be a list',
  },
  {
    matches: { kind: 'no-text', engine: 'mm' },
    why: 'the segments of a date or time field are its own; the field has one value',
  },
  { matches: { kind: 'no-text', engine: 'dd' }, why: 'as above' },
  { matches: { kind: 'no-text', engine: 'yyyy' }, why: 'as above' },
];

const used = new Set<(typeof accepted)[number]>();

function unexpected(differences: Difference[]): Difference[] {
  return differences.filter((difference) => {
    const reason = accepted.find(({ matches }) =>
      Object.entries(matches).every(([key, value]) => difference[key as keyof Difference] === value),
    );
    if (reason !== undefined) used.add(reason);
    return reason === undefined;
  });
}

describe("roles, names, states and text are those of the engine's accessibility tree", () => {
  for (const name of readdirSync(pages).filter((file) => file.endsWith('.html'))) {
    it(name, async () => {
      await page.page.goto(pathToFileURL(new URL(name, pages).pathname).href);
      await page.inject();
      const found = await compare(page);
      expect(unexpected(found)).toEqual([]);
    });
  }

  it('every accepted difference still occurs', () => {
    expect(accepted.filter((reason) => !used.has(reason))).toEqual([]);
  });
});
