import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { ProcessIndex } from '../../src/residual/process-index.ts';
import { reap } from '../../src/residual/reap.ts';
import { engines, launch } from './support/chrome.ts';
import { workspace } from './support/scratch.ts';

const closeFloor = async () => ({ connectionsClosed: 3 });

for (const engine of engines) {
  test(`${engine}: a close leaves no process and no path, and says so`, async () => {
    const place = await workspace();
    const chrome = await launch(place, { engine });
    const before = await ProcessIndex.read();
    const helpers = before.inSession(chrome.identity.pid).length;
    expect(helpers).toBeGreaterThan(3);

    const receipt = await reap({
      sessionId: 's',
      reason: 'delete',
      workspace: place,
      chrome,
      closeBrowser: chrome.closeBrowser,
      closeFloor,
    });

    expect(receipt).toMatchObject({
      sessionId: 's',
      reason: 'delete',
      zero: true,
      floor: { connectionsClosed: 3 },
    });
    expect(receipt.processes.seen).toBeGreaterThanOrEqual(helpers);
    expect(receipt.processes).toMatchObject({ terminated: 0, survivors: 0 });
    expect(receipt.disk.entries).toBeGreaterThan(10);
    expect(receipt.disk.bytes).toBeGreaterThan(0);
    expect(receipt.problems).toBeUndefined();
    const after = await ProcessIndex.read();
    expect(after.inSession(chrome.identity.pid).filter((entry) => entry.life === 'alive')).toEqual([]);
    expect(after.get(chrome.identity.pid)).toBeUndefined();
    expect(after.mentioning(place.path)).toEqual([]);
    expect(existsSync(place.path)).toBe(false);
    expect(readdirSync(dirname(place.path)).filter((name) => !name.endsWith('.sock'))).toEqual([]);
    expect(place.claimed).toBe(false);
  });
}
