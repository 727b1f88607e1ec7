#!/usr/bin/env node
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { type Config, ConfigError, durationSec, flagsHelp, loadConfig } from './config.ts';
import { AirlockError, messageOf } from './errors.ts';
import { isLoopback, listen } from './listen.ts';
import { policyFromFlags } from './policy/policy.ts';
import { SelfRegistry } from './policy/self.ts';
import { leaveProcessOne } from './residual/init.ts';
import { RuntimeDir } from './residual/runtime-dir.ts';
import { buildServer } from './server.ts';
import { defaultMaxSessions } from './sessions/capacity.ts';
import { Service } from './sessions/service.ts';
import { readPolicyFile, readToken } from './state.ts';

const HELP = `airlock ${packageJson.version}: an isolated Chrome for every caller over plain HTTP

  airlock [serve] [flags]   run the service
  airlock config [flags]    print the effective settings, each with its origin
  airlock --help | --version

Flags:
${flagsHelp()}
`;

/** Exit code of a start that cannot work: a wrong flag, a port in use, a token that cannot be read. */
const EXIT_USAGE = 2;

async function main(argv: string[]): Promise<void> {
  const command = argv[0]?.startsWith('-') === false ? argv.shift() : 'serve';
  if (argv.includes('--help') || command === 'help') return print(HELP);
  if (argv.includes('--version')) return print(`${packageJson.version}\n`);
  const config = loadConfig(argv);
  if (command === 'config') return print(`${JSON.stringify(describe(config), null, 2)}\n`);
  if (command !== 'serve') throw new ConfigError(`There is no command "${command}"; see --help`);
  await serve(config);
}

function describe(config: Config): Record<string, unknown> {
  const rows = Object.entries(config.settings).map(([name, value]) => {
    const origin = Object.entries(config.origins).find(([known]) => known === name)?.[1];
    return [name, { value, origin: origin === 'file' ? config.file : origin }];
  });
  return Object.fromEntries(rows);
}

async function serve({ settings }: Config): Promise<void> {
  const logger = pino({ level: settings.logLevel }, pino.destination({ fd: 2, sync: true }));
  await mkdir(settings.stateDir, { recursive: true, mode: 0o700 });
  const token = await readToken(settings.tokenFile, settings.stateDir);
  if (settings.tokenFile !== undefined && !isLoopback(settings.host) && token.length < 16) {
    throw new ConfigError('A service on a network address needs a token of at least 16 characters');
  }
  const policy = policyFromFlags({
    allow: settings.allow,
    deny: settings.deny,
    ...(settings.policy === undefined ? {} : { file: await readPolicyFile(settings.policy) }),
  });
  const runtimeDir = await RuntimeDir.open(settings.runtimeDir);
  const self = new SelfRegistry();
  const service = new Service({
    version: packageJson.version,
    stateDir: settings.stateDir,
    runtimeDir,
    policy,
    self,
    engine: settings.engine,
    chrome: settings.chrome,
    noSandbox: settings.noSandbox || process.getuid?.() === 0,
    maxSessions: settings.maxSessions ?? defaultMaxSessions(),
    node: settings.node,
    ttlSec: durationSec(settings.ttl),
    idleSec: durationSec(settings.idle),
    onFault: (error) => logger.error({ err: error }, 'fault'),
    onSwept: (swept) => logger.info({ swept }, 'removed what was left'),
  });
  await service.sweeper.start();
  const app = await buildServer({
    service,
    logger,
    access: { token, hostNames: settings.hostName },
    version: packageJson.version,
  });
  const listening = await listen(app, settings, self);
  await writeFile(join(settings.stateDir, 'address'), `${listening.baseUrl}\n`, { mode: 0o600 });
  announce(listening.baseUrl, settings.tokenFile ?? join(settings.stateDir, 'token'));
  const stop = stopper(async () => {
    await service.stop();
    await app.close();
    await listening[Symbol.asyncDispose]();
    await service.sweeper[Symbol.asyncDispose]();
    await runtimeDir[Symbol.asyncDispose]();
  });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** The first signal closes all sessions and exits 0; a second does not wait. */
function stopper(close: () => Promise<void>): () => void {
  let stopping = false;
  return () => {
    if (stopping) process.exit(1);
    stopping = true;
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`airlock: ${messageOf(error)}\n`);
        process.exit(1);
      },
    );
  };
}

function announce(baseUrl: string, tokenFile: string): void {
  print(`Airlock ${packageJson.version} listens on ${baseUrl}
Token file: ${tokenFile}
Try: curl -sS -X POST -H "Authorization: Bearer $(cat ${tokenFile})" ${baseUrl}/v1/sessions
`);
}

function print(text: string): void {
  process.stdout.write(text);
}

leaveProcessOne(process.argv);
main(process.argv.slice(2)).catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof AirlockError;
  process.stderr.write(
    `airlock: ${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(known ? EXIT_USAGE : 1);
});
