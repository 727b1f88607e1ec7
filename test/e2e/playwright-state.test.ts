import { chromium } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { installed } from '../support/real-chrome.ts';
import { TestService } from '../support/service.ts';

const path = installed('headless-shell');

/** What Playwright says of a state that it was given. */
async function throughPlaywright(state: object) {
  const browser = await chromium.launch({ executablePath: path ?? '', args: ['--no-sandbox'] });
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ storageState: JSON.parse(JSON.stringify(state)) });
  return context.storageState();
}

test.skipIf(path === undefined)(
  'a state goes from here to Playwright and back, and stays what it is',
  async () => {
    await using service = await TestService.start(['--pool', '0']);
    const expires = Math.floor(Date.now() / 1000) + 10_000;
    const common = { path: '/', httpOnly: false, secure: true };
    const given = {
      cookies: [
        { ...common, name: 'host', value: '1', domain: 'shop.example', expires: -1, sameSite: 'Lax' },
        {
          ...common,
          name: 'domain',
          value: '2',
          domain: '.shop.example',
          expires,
          sameSite: 'Strict',
          httpOnly: true,
        },
        {
          ...common,
          name: 'third',
          value: '3',
          domain: 'ads.example',
          expires,
          sameSite: 'None',
          partitionKey: 'https://shop.example',
          _crHasCrossSiteAncestor: true,
        },
      ],
      origins: [{ origin: 'https://shop.example', localStorage: [{ name: 'cart', value: '["ü"]' }] }],
    };
    const session = await service.session({ storageState: given });
    const { body: ours } = await service.get(`${session}/state`);
    const theirs = await throughPlaywright(ours);
    const sorted = (state: { cookies: { name: string }[]; origins: unknown }) => ({
      ...state,
      cookies: [...state.cookies].sort((a, b) => a.name.localeCompare(b.name)),
    });
    expect(sorted(theirs)).toEqual(sorted(ours));
    const again = await service.session({ storageState: theirs });
    expect(sorted((await service.get(`${again}/state`)).body)).toEqual(sorted(ours));
  },
);
