import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, bench, launch } from './harness.ts';

let browser: Browser;
let page: Bench;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
});
afterAll(() => browser.close());

async function lines(): Promise<string[]> {
  return (await page.text()).replace(/ \[ref=e\d+\]/g, ' *').split('\n');
}

/** Clicks the middle of the node of the ref that follows a piece of the snapshot. */
async function clickRef(piece: string): Promise<void> {
  const ref = new RegExp(`${piece} \\[ref=e(\\d+)\\]`).exec(await page.text())?.[1];
  const at = await page.evaluate<{ x: number; y: number }>(
    `(() => { const box = airlock.node(${ref}).getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 }; })()`,
  );
  await page.page.mouse.click(at.x, at.y);
}

describe('a label stands for the control that it hides', () => {
  const page3 = `<form><label style="cursor:pointer"><input type=radio name=v value=n style="display:none">Never</label>
    <label style="cursor:pointer"><input type=radio name=v value=y style="display:none">Often</label></form>
    <script>n = 0; document.forms[0].onchange = () => n++</script>`;

  it('radio: told apart, clickable, with its state', async () => {
    await page.load(page3);
    expect(await lines()).toEqual(['- radio "Never" *', '- radio "Often" *']);
    await clickRef('radio "Often"');
    expect(await page.page.evaluate('[document.forms[0].v.value, n]')).toEqual(['y', 1]);
    expect(await lines()).toEqual(['- radio "Never" *', '- radio "Often" * [checked]']);
  });

  it('is found and described as that control', async () => {
    await page.load(page3);
    const { matches } = await page.query({ role: 'radio', name: 'Often' });
    expect(matches.map(({ role, name, tag }) => [role, name, tag])).toEqual([['radio', 'Often', 'label']]);
    expect((await page.query({ label: 'Often' })).matches.map(({ tag }) => tag)).toEqual(['label']);
  });

  it('checkbox, file, disabled, aria-hidden and visibility: hidden', async () => {
    await page.load(
      `<label><input type=checkbox hidden checked disabled>Box</label><label><input type=file style="display:none">Upload</label>
       <label><input type=checkbox aria-hidden=true>Twin</label><label><input type=checkbox style="visibility:hidden">Unseen</label>
       <input id=far type=checkbox hidden><label for=far>Far <a href=#t>terms</a></label>`,
    );
    expect(await lines()).toEqual([
      '- checkbox "Box" * [checked] [disabled]',
      '- button "Upload" * [type=file]',
      '- checkbox "Twin" *',
      '- checkbox "Unseen" *',
      '- checkbox "Far terms" *',
      '  - link "terms" *',
    ]);
  });

  it('but not for one that is painted small, clear or clipped', async () => {
    const styles = [
      'width:0;height:0',
      'opacity:0;position:absolute',
      'position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden',
    ];
    await page.load(
      styles.map((s) => `<label><input type=checkbox style="${s}"><span>Text</span></label>`).join(''),
    );
    expect(await lines()).toEqual(['- checkbox "Text" *', '- checkbox "Text" *', '- checkbox "Text" *']);
    const tags = (await page.query({ role: 'checkbox' })).matches.map(({ tag }) => tag);
    expect(tags).toEqual(['input', 'input', 'input']);
  });
});

describe('native select', () => {
  it('prints label, group and state of every option, open or not', async () => {
    await page.load(
      `<select id=s aria-label=S><option></option><option value=ap>Apple</option><option value="">None</option>
       <optgroup label=G><option value=ba disabled>Banana</option></optgroup></select>
       <select multiple aria-label=M><option selected>a<option selected>b<option>c</select>`,
    );
    await page.page.evaluate('s.value = "ap"');
    expect(await lines()).toEqual([
      '- combobox "S" *: Apple',
      '  - option *',
      '  - option "Apple" * [selected]',
      '  - option "None" *',
      '  - group "G"',
      '    - option "Banana" * [disabled]',
      '- listbox "M" *',
      '  - option "a" * [selected]',
      '  - option "b" * [selected]',
      '  - option "c" *',
    ]);
  });
});

describe('values and states are live', () => {
  it('after script changed them', async () => {
    await page.load(
      `<input id=a value=attr aria-label=A><input id=b type=checkbox checked aria-label=B><textarea id=c aria-label=C>old</textarea>
       <input id=d type=range aria-label=D><progress id=e value=1 max=5 aria-label=E></progress><details id=f><summary>F</summary>x</details>`,
    );
    await page.page.evaluate(
      'a.value = "live"; b.checked = false; b.indeterminate = true; c.value = "one\\ntwo"; d.value = 80; e.value = 3; f.open = true; c.focus()',
    );
    expect(await lines()).toEqual([
      '- textbox "A" *: live',
      '- checkbox "B" * [checked=mixed]',
      '- textbox "C" * [focused]: "one\\ntwo"',
      '- slider "D" *: 80',
      '- progressbar "E": 3',
      '- button "F" * [expanded]',
      '- text: x',
    ]);
  });

  it('passwords and marked fields are redacted, empty ones are empty', async () => {
    await page.load(
      '<input type=password value=x aria-label=P><input type=password aria-label=Q><input id=m value=y aria-label=M>',
    );
    await page.evaluate('airlock.markSecret(document.getElementById("m"))');
    expect(await lines()).toEqual([
      '- textbox "P" *: [redacted]',
      '- textbox "Q" *',
      '- textbox "M" *: [redacted]',
    ]);
    expect((await page.query({ label: 'P' })).matches[0]?.line).toBe('textbox "P": [redacted]');
  });
});

describe('what looks clickable has a ref', () => {
  it('by onclick, tabindex or the hand cursor, each once and not what only wraps', async () => {
    await page.load(
      `<style>.hand{cursor:pointer}</style><div onclick="1">By handler</div><div tabindex=0>By focus</div><div tabindex=-1>Not by script focus</div>
       <div class=hand>By <b>cursor</b></div><div class=hand><button>Only child</button></div><li class=hand>Item</li>
       <div class=hand><span class=hand>Twice</span> told</div><div tabindex=0 role=group aria-label=Box><p class=hand>Inside a focusable box</p></div>`,
    );
    expect(await lines()).toEqual([
      '- generic *: By handler',
      '- generic *: By focus',
      '- text: Not by script focus',
      '- generic *: By cursor',
      '- button "Only child" *',
      '- listitem *: Item',
      '- generic *: Twice told',
      '- group "Box" *',
      '  - paragraph *: Inside a focusable box',
    ]);
  });

  it('what scrolls by itself', async () => {
    await page.load(
      `<div style="height:50px;overflow:auto"><p style="height:200px">Long</p></div><div style="height:50px;overflow:auto">Short</div>
       <ul style="height:20px;overflow-y:scroll" aria-label=L><li>One<li>Two</ul>`,
    );
    expect(await lines()).toEqual([
      '- generic * [scrollable]: Long',
      '- text: Short',
      '- list "L" * [scrollable]',
      '  - listitem: One',
      '  - listitem: Two',
    ]);
  });

  it('a labelled control shows its own text where its label does not say it', async () => {
    await page.load(
      '<a href=# aria-label=Home>Project title</a><button aria-label="Close window">close</button><button aria-label=Close>×</button>',
    );
    expect(await lines()).toEqual([
      '- link "Home" *: Project title',
      '- button "Close window" *',
      '- button "Close" *',
    ]);
  });
});

describe('what is not offered', () => {
  it('by aria-hidden, but not on the body nor around the focus', async () => {
    await page.load(
      '<body aria-hidden=true><p aria-hidden=true>a</p><div aria-hidden=true><input aria-label=I autofocus></div>',
    );
    await page.page.evaluate('document.querySelector("input").focus()');
    expect(await lines()).toEqual(['- textbox "I" * [focused]']);
  });

  it('by inert, as attribute or style', async () => {
    await page.load(
      '<style>.off{interactivity:inert}</style><div inert><button>a</button></div><div class=off><button>b</button></div><div style="interactivity:inert">c</div><p>d',
    );
    expect(await lines()).toEqual(['- text: d']);
  });

  it('by content-visibility and hidden=until-found, its own text neither', async () => {
    await page.load(
      '<style>.cv{content-visibility:hidden}</style><div class=cv>a<button>b</button></div><div hidden=until-found>c</div><section hidden=until-found aria-label=S>d</section>',
    );
    expect(await lines()).toEqual(['- region "S"']);
  });
});

it('what can be dragged has a ref', async () => {
  await page.load(
    '<ul><li draggable=true>One<li draggable=false>Two</ul><div draggable=true><span>Card</span></div>',
  );
  expect(await lines()).toEqual(['- list', '  - listitem *: One', '  - listitem: Two', '- generic *: Card']);
});
