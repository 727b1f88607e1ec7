import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import pino from 'pino';
import { ConfigError, durationSec, type Settings } from './config.ts';
import { isLoopback, listen } from './listen.ts';
import { policyFromFlags } from './policy/policy.ts';
import { SelfRegistry } from './policy/self.ts';
import { RuntimeDir } from './residual/runtime-dir.ts';
import { buildServer } from './server.ts';
import { defaultMaxSessions } from './sessions/capacity.ts';
import { whyNoOwnNetwork } from './sessions/own-network.ts';
import { Service } from './sessions/service.ts';
import { readPolicyFile, readToken } from './state.ts';

/** A service that listens. */
export interface Running {
  /**
   * Admits no more, lets what runs finish within the drain time or until `hurry` aborts, closes all sessions, and leaves
   * nothing.
   */
  stop(hurry: AbortSignal): Promise<void>;
  readonly baseUrl: string;
  readonly tokenFile: string;
}

/**
 * Puts the parts together, removes what earlier runs left, and listens.
 * @throws ConfigError a setting that cannot work; AirlockError `invalid_policy`, or a runtime directory that is refused
 */
export async function start(settings: Settings, version: string): Promise<Running> {
  const logger = pino({ level: settings.logLevel }, pino.destination({ fd: 2, sync: true }));
  if (settings.chrome !== undefined && !existsSync(settings.chrome)) {
    throw new ConfigError(`--chrome ${settings.chrome}: there is no such file`);
  }
  if (settings.strictNetwork) {
    const why = await whyNoOwnNetwork();
    if (why !== undefined) throw new ConfigError(`--strict-network cannot work here: ${why}`);
  }
  await mkdir(settings.stateDir, { recursive: true, mode: 0o700 });
  const token = await readToken(settings.tokenFile, settings.stateDir, isLoopback(settings.host));
  const policy = policyFromFlags({
    allow: settings.allow,
    deny: settings.deny,
    ...(settings.policy === undefined ? {} : { file: await readPolicyFile(settings.policy) }),
  });
  const runtimeDir = await RuntimeDir.open(settings.runtimeDir);
  const self = new SelfRegistry();
  const service = new Service({
    version,
    stateDir: settings.stateDir,
    dataDir: settings.dataDir,
    runtimeDir,
    policy,
    self,
    engine: settings.engine,
    chrome: settings.chrome,
    noSandbox: settings.noSandbox || process.getuid?.() === 0,
    strictNetwork: settings.strictNetwork,
    dns: settings.dns.map(nameServer),
    maxSessions: settings.maxSessions ?? defaultMaxSessions(),
    pool: settings.pool,
    node: settings.node,
    ttlSec: durationSec(settings.ttl),
    idleSec: durationSec(settings.idle),
    diskQuotaBytes: settings.diskQuota * 1024 ** 2,
    onFault: (error) => logger.error({ err: error }, 'fault'),
    onSwept: (swept) => logger.info({ swept }, 'removed what was left'),
  });
  await service.sweeper.start();
  const app = await buildServer({
    service,
    logger,
    access: { token, hostNames: settings.hostName },
    version,
  });
  const listening = await listen(app, settings, self).catch(async (error: unknown) => {
    await app.close();
    await service.sweeper[Symbol.asyncDispose]();
    await runtimeDir[Symbol.asyncDispose]();
    throw error;
  });
  service.browsers.open();
  await writeFile(join(settings.stateDir, 'address'), `${listening.baseUrl}\n`, { mode: 0o600 });
  return {
    baseUrl: listening.baseUrl,
    tokenFile: settings.tokenFile ?? join(settings.stateDir, 'token'),
    async stop(hurry) {
      await service.stop(durationSec(settings.drain) * 1000, hurry);
      await app.close();
      await listening[Symbol.asyncDispose]();
      await service.sweeper[Symbol.asyncDispose]();
      await runtimeDir[Symbol.asyncDispose]();
    },
  };
}

/** `1.1.1.1`, `1.1.1.1:5353`, `2620:fe::fe`, `[2620:fe::fe]:5353`: an address, since a name would have to be resolved. */
function nameServer(text: string): string {
  const [, bracketed, port] = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text) ?? [];
  const [, plain, plainPort] = /^([\d.]+):(\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? text;
  const number = Number(port ?? plainPort ?? 53);
  const family = isIP(address);
  if (family === 0 || address.includes('%') || number < 1 || number > 65_535) {
    throw new ConfigError(`--dns ${text}: a name server is an IP address, or one with a port`);
  }
  return family === 6 ? `[${address}]:${number}` : `${address}:${number}`;
}
