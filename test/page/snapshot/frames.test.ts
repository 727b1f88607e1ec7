import type { Browser, CDPSession } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { injectedSource } from '../../../src/page/injected/bundle.ts';
import type { FrameText } from '../../../src/page/injected/types.ts';
import { assembleFrames, type WalkedFrame } from '../../../src/page/snapshot/assemble.ts';
import { type Bench, bench, launch } from './harness.ts';

let browser: Browser;
let page: Bench;
beforeAll(async () => {
  browser = await launch();
  page = await bench(browser);
});
afterAll(() => browser.close());

/** Walks a frame and, by the frame id of each iframe, what is inside. Frames here are all of one process. */
async function walk(
  cdp: CDPSession,
  frameId: string,
  state: { next: number; frames: number },
): Promise<WalkedFrame> {
  const { executionContextId: contextId } = await cdp.send('Page.createIsolatedWorld', {
    frameId,
    worldName: 'frames',
  });
  const prefix = state.frames === 0 ? '' : `f${state.frames}`;
  state.frames++;
  await cdp.send('Runtime.evaluate', { expression: `${injectedSource()}, 0`, contextId });
  const expression = `airlock.snapshot({ nextRef: ${state.next}, prefix: '${prefix}' })`;
  const answer = await cdp.send('Runtime.evaluate', { expression, contextId, returnByValue: true });
  const walked = answer.result.value as FrameText;
  state.next = walked.nextRef;
  const children = new Map<number, WalkedFrame>();
  for (const { ref } of walked.frames) {
    const { result } = await cdp.send('Runtime.evaluate', { expression: `airlock.node(${ref})`, contextId });
    const { node } = await cdp.send('DOM.describeNode', { objectId: result.objectId ?? '' });
    if (node.frameId !== undefined) children.set(ref, await walk(cdp, node.frameId, state));
  }
  return { walked, children };
}

async function text(): Promise<string> {
  const { frameTree } = await page.cdp.send('Page.getFrameTree');
  return assembleFrames(await walk(page.cdp, frameTree.frame.id, { next: 1, frames: 0 }));
}

describe('frames', () => {
  it('stand below their iframe in document order, each once, refs distinct, whatever the iframe looks like', async () => {
    const inner = `<button>Inner</button><output>-</output><iframe srcdoc="<a href='#k'>Deep</a>"></iframe>`;
    const doc = inner.replaceAll('"', '&quot;');
    await page.load(
      `<h1>Outer</h1><iframe style="cursor:pointer" srcdoc="${doc}"></iframe><p>Between</p>
       <div><iframe role=presentation title=Second srcdoc="${doc}"></iframe></div><button>After</button>`,
    );
    await page.page.evaluate(
      'Promise.all([...document.querySelectorAll("iframe")].map((f) => f.contentDocument.readyState === "complete" && f.contentDocument.body.children.length ? 0 : new Promise((done) => { f.onload = done })))',
    );
    expect((await text()).split('\n')).toEqual(
      [
        '- heading "Outer" [level=1]',
        '- iframe [ref=e1] src=about:srcdoc',
        '  - button "Inner" [ref=f1e4]',
        '  - iframe [ref=f1e5] src=about:srcdoc',
        '    - link "Deep" [ref=f2e6]',
        '- text: Between',
        '- iframe "Second" [ref=e2] src=about:srcdoc',
        '  - button "Inner" [ref=f3e7]',
        '  - iframe [ref=f3e8] src=about:srcdoc',
        '    - link "Deep" [ref=f4e9]',
        '- button "After" [ref=e3]',
      ].flatMap((line) => (line.includes('"Inner"') ? [line, `${line.slice(0, 2)}- status: -`] : [line])),
    );
  });

  it('that are hidden or not walked leave their line alone, or none', async () => {
    await page.load('<iframe hidden srcdoc="x"></iframe><iframe title=Shown src="about:blank"></iframe>');
    const walked = await page.snapshot();
    expect(walked.frames).toHaveLength(1);
    expect(assembleFrames({ walked, children: new Map() })).toBe(walked.text);
    expect(walked.text).toMatch(/^- iframe "Shown" \[ref=e\d+\] src=about:blank$/);
  });
});
