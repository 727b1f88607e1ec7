#!/usr/bin/env node
import packageJson from '../package.json' with { type: 'json' };
import { type Config, ConfigError, flagsHelp, loadConfig } from './config.ts';
import { AirlockError, messageOf } from './errors.ts';
import { leaveProcessOne } from './residual/init.ts';

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

async function serve(config: Config): Promise<void> {
  // Loaded late, so that a wrong flag is answered at once.
  const { start } = await import('./serve.ts');
  const running = await start(config.settings, packageJson.version);
  announce(running.baseUrl, running.tokenFile);
  const onSignal = stopper((hurry) => running.stop(hurry));
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** The first signal drains and exits with 0; the second does not wait for what runs; the third does not wait at all. */
function stopper(stop: (hurry: AbortSignal) => Promise<void>): () => void {
  const hurry = new AbortController();
  let signals = 0;
  return () => {
    signals += 1;
    if (signals === 2) hurry.abort();
    if (signals > 2) process.exit(1);
    if (signals > 1) return;
    stop(hurry.signal).then(
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
