/** The steps in which a Chrome comes to be, in the order in which `Browser` takes them. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { AirlockError, messageOf } from '../errors.ts';
import { freeHungRenderers } from '../page/renderer.ts';
import type { Tab } from '../page/tab.ts';
import type { Tabs } from '../page/tabs.ts';
import type { Floor } from '../policy/floor.ts';
import type { Policy } from '../policy/policy.ts';
import { identify, type ProcessIdentity } from '../residual/identity.ts';
import type { Workspace } from '../residual/workspace.ts';
import { ChromeConnection } from './chrome-connection.ts';
import { chromeFlags, devShmIsSmall } from './chrome-flags.ts';
import { writePreferences } from './chrome-preferences.ts';
import { Downloads } from './downloads.ts';
import { SessionFiles } from './files.ts';
import type { FoundChrome } from './find-chrome.ts';
import { Guard } from './guard.ts';
import { type LaunchedChrome, launchChrome, type OwnNetwork } from './launch-chrome.ts';
import { OriginPages } from './origin-pages.ts';
import { outfit } from './outfit.ts';
import { hasOwnNetwork } from './own-network.ts';
import { PipeTransport } from './pipe-transport.ts';
import type { SessionSpec } from './spec.ts';
import { Targets } from './targets.ts';
import type { UrlJudge } from './url-judge.ts';

const STDERR_KEPT = 16 * 1024;

export interface LaunchParts {
  readonly chrome: FoundChrome;
  readonly noSandbox: boolean;
  /** Chrome gets a network namespace of its own. */
  readonly strictNetwork: boolean;
  readonly workspace: Workspace;
  readonly profileDir: string;
  readonly headless: boolean;
  readonly floor: Floor;
}

/**
 * Starts the process, behind its floor and in its workspace.
 * @throws AirlockError `browser_unavailable`, or the reason of `signal`
 */
export async function launch(parts: LaunchParts, signal: AbortSignal): Promise<LaunchedChrome> {
  const { chrome, noSandbox, strictNetwork, workspace, profileDir, headless, floor } = parts;
  await writePreferences(chrome.engine, profileDir);
  const args = chromeFlags({
    engine: chrome.engine,
    profileDir,
    floorAddress: floor.address,
    floorPort: floor.port,
    noSandbox,
    headless,
    smallDevShm: devShmIsSmall(),
  });
  return launchChrome({
    path: chrome.path,
    args,
    env: workspace.env({ headful: !headless }),
    cwd: workspace.path, // a core dump lands there, and a file that Chrome names without a directory
    stderrLimit: STDERR_KEPT,
    signal,
    ownNetwork: strictNetwork ? inItsOwn(floor) : undefined,
  });
}

function inItsOwn(floor: Floor): OwnNetwork {
  return {
    place: { host: floor.address, port: floor.port },
    adopt: (listener) => floor.serveAlso(listener),
  };
}

/**
 * Makes sure, where one was asked for, that Chrome is in a network namespace of its own.
 * @throws AirlockError `browser_unavailable`
 */
export async function proveNetwork({ pid }: LaunchedChrome, strictNetwork: boolean): Promise<void> {
  if (!strictNetwork || (await hasOwnNetwork(pid))) return;
  throw new AirlockError('browser_unavailable', 'Chrome is not in a network namespace of its own');
}

/**
 * Says who the process is, and writes it into the workspace: a later service can then end it.
 * @throws AirlockError `browser_unavailable` when it has ended already
 */
export async function identifyChrome(
  { pid }: LaunchedChrome,
  workspace: Workspace,
): Promise<ProcessIdentity> {
  const identity = await identify(pid);
  if (!identity) throw new AirlockError('browser_unavailable', 'Chrome ended right after its start');
  await workspace.setChrome({ ...identity, pgid: pid });
  return identity;
}

export interface WireParts {
  readonly chrome: LaunchedChrome;
  readonly workspace: Workspace;
  readonly tabs: Tabs;
  readonly floor: Floor;
  readonly judge: UrlJudge;
  /** The policy of now. */
  readonly policy: () => Policy;
  /** What the caller asked for, as of now. */
  readonly spec: () => SessionSpec;
  /** Bytes that the session may still store. */
  readonly room: () => Promise<number>;
  readonly preparePeers: () => Promise<void>;
  readonly maxTabs: number;
  readonly onRefusedTab: (url: string) => void;
  readonly onFault: (error: unknown) => void;
}

/** What stands between the service and a Chrome. */
export interface Wires {
  readonly connection: Connection;
  readonly downloads: Downloads;
  readonly files: SessionFiles;
  readonly originPages: OriginPages;
  readonly guard: Guard;
  readonly targets: Targets;
  /** Takes hold of Chrome; resolves when its first tab can be used. Once only. */
  readonly start: () => Promise<void>;
}

/** Puts connection, downloads, guard and targets on the pipe of a Chrome. Nothing is sent before `start`. */
export async function wire(parts: WireParts): Promise<Wires> {
  const { chrome, workspace, floor, tabs, judge, policy, spec, room, onFault } = parts;
  const incoming = join(workspace.tmp, 'incoming');
  await mkdir(incoming, { mode: 0o700 });
  const files = new SessionFiles({ directory: workspace.files, incoming, room });
  const transport = new PipeTransport(chrome.pipeWrite, chrome.pipeRead);
  const connection = new ChromeConnection(transport, onFault);
  const downloads = new Downloads({ connection, incoming, files, room, onFault });
  tabs.on('opened', (tab) => downloads.watch(tab));
  const originPages = new OriginPages(connection);
  const guard = new Guard({
    connection,
    judge,
    policy,
    standstill: {
      begin: () => floor.suspend(),
      settled: () => Promise.all([floor.suspension.quiet(), ...tabs.list().map(freeHungRenderers)]),
      end: () => floor.suspension.end(),
    },
    tabOf: (frameId) => targets.tabOfFrame(frameId),
    outfit: (session, kind) => outfit(session, kind, spec()),
    onFault,
  });
  const { maxTabs, onRefusedTab } = parts;
  const takes = originPages.takes.bind(originPages);
  const targets = new Targets({ connection, tabs, guard, maxTabs, takes, onRefusedTab, onFault });
  const start = async () => {
    await Promise.all([downloads.setMode(spec().downloads ?? 'deny'), targets.start()]);
    // Chrome's network service is there by now.
    await parts.preparePeers();
  };
  return { connection, downloads, files, originPages, guard, targets, start };
}

/**
 * The canary: a managed policy, a PAC file or a wrapper can undo every flag, so before anybody uses this Chrome it
 * must be seen that its traffic comes out at its own floor. A fetch goes through the same network context as a
 * navigation, and leaves neither an error page nor a history entry.
 * @throws AirlockError `browser_unavailable`, or the reason of `signal`
 */
export async function proveFloor(
  { chrome, floor, tab }: { chrome: LaunchedChrome; floor: Floor; tab: Tab },
  signal: AbortSignal,
): Promise<void> {
  const host = `${randomBytes(12).toString('hex')}.invalid`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  const seen = floor.expectHost(host, limit);
  try {
    const expression = `fetch('http://${host}/', { mode: 'no-cors' }).catch(() => 0)`;
    const sent = tab.session.send('Runtime.evaluate', { expression, awaitPromise: true });
    await untilExit(chrome, signal, Promise.all([seen, sent]));
  } catch (error) {
    if (signal.aborted) throw error;
    throw new AirlockError(
      'browser_unavailable',
      `Chrome does not use its network floor: ${messageOf(error)}`,
      { cause: error },
    );
  }
  tab.failedRequests.clear();
}

/** Waits for Chrome's answer, unless it dies or the caller goes away first. */
export async function untilExit<T>(
  chrome: LaunchedChrome,
  signal: AbortSignal,
  work: Promise<T>,
): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const done = () => signal.removeEventListener('abort', onAbort);
    work.then(done, done);
  });
  const died = chrome.exited.then((exit) => {
    throw new AirlockError('browser_unavailable', `Chrome ended at its start: ${exit.signal ?? exit.code}`, {
      extra: { stderr: chrome.stderrTail() },
    });
  });
  return Promise.race([work, aborted, died]);
}
