import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { residualReport } from '../../src/residual/report.ts';
import { Workspace } from '../../src/residual/workspace.ts';
import { launch } from './support/chrome.ts';
import { runtimeDir, scratch, service, shell } from './support/scratch.ts';

async function options() {
  return { tempDir: await scratch(), liveSessions: new Set<string>(), minAgeSec: 0 };
}

const clean = {
  status: 'pass',
  markerDirs: 0,
  singletonOrphans: 0,
  sweepCandidates: 0,
  liveMarkerProcesses: 0,
  unownedMarkerProcesses: 0,
  zombies: 0,
  bytes: 0,
  paths: [],
};

test('an open session is not residue, here or in another instance', async () => {
  const other = await service(join(await scratch(), 'r'), ['theirs']);
  const directory = await runtimeDir(other.path);
  const place = await Workspace.create(directory, 'ours');
  await launch(place);
  const report = await residualReport(directory, await options());
  expect(report).toMatchObject({ ...clean, liveMarkerProcesses: expect.any(Number) });
  expect(report.liveMarkerProcesses).toBeGreaterThan(3);
});

test('a workspace that nobody owns, and litter, are a warning', async () => {
  const directory = await runtimeDir();
  const place = await Workspace.create(directory, 'one');
  await writeFile(join(place.files, 'left'), Buffer.alloc(50_000, 1));
  place.release();
  const given = await options();
  const litter = join(given.tempDir, 'org.chromium.Chromium.AbCdEf');
  await mkdir(litter);
  await symlink('1', join(litter, 'SingletonCookie'));
  const report = await residualReport(directory, given);
  expect(report).toMatchObject({
    ...clean,
    status: 'warn',
    markerDirs: 1,
    singletonOrphans: 1,
    sweepCandidates: 2,
    bytes: expect.any(Number),
    paths: [place.path, litter],
  });
  expect(report.bytes).toBeGreaterThanOrEqual(50_000);
});

test('a process that nobody owns is a failure', async () => {
  const directory = await runtimeDir();
  const place = await Workspace.create(directory, 'one');
  await shell(`exec sh -c 'sleep 1000 & echo; wait' ${place.profile}`);
  expect(await residualReport(directory, await options())).toMatchObject({
    status: 'pass',
    liveMarkerProcesses: 2,
  });
  place.release();
  expect(await residualReport(directory, await options())).toMatchObject({
    status: 'fail',
    liveMarkerProcesses: 2,
    unownedMarkerProcesses: 2,
  });
});

test('nothing at all passes', async () => {
  expect(await residualReport(await runtimeDir(), await options())).toMatchObject(clean);
});
