import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { messageOf } from './errors.ts';
import { nearest } from './routes/nearest.ts';

/** A length of time in a flag or the config file: a number of seconds, or `500ms`, `30s`, `10m`, `2h`. */
const Duration = (description: string, fallback: string) =>
  Type.String({ pattern: '^\\d+(ms|s|m|h)?$', default: fallback, description });

/** Every setting. The name of a flag is the name here in kebab case (`maxSessions` → `--max-sessions`). */
export const SettingsSchema = Type.Object(
  {
    host: Type.String({ default: '127.0.0.1', description: 'address to listen on' }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65535,
      default: 7320,
      description: 'port to listen on; 0 = any free',
    }),
    hostName: Type.Array(Type.String(), {
      default: [],
      description: 'a name that clients may use in the Host header, besides localhost and IP addresses',
    }),
    socket: Type.Optional(Type.String({ description: 'also listen on this Unix socket (0600)' })),
    stateDir: Type.String({
      default: stateHome(),
      description: 'where the token and the address file are kept',
    }),
    dataDir: Type.String({
      default: dataHome(),
      description: 'where profiles that stay are kept',
    }),
    runtimeDir: Type.Optional(Type.String({ description: 'where the workspaces of sessions are made' })),
    tokenFile: Type.Optional(Type.String({ description: 'a file that holds the bearer token' })),
    engine: Type.Enum(['headless-shell', 'chrome'], {
      default: 'headless-shell',
      description: 'browser of a session that asks for none: headless-shell or chrome',
    }),
    chrome: Type.Optional(Type.String({ description: 'path of the browser binary' })),
    noSandbox: Type.Boolean({
      default: false,
      description: 'run Chrome without its sandbox (as root it always is)',
    }),
    strictNetwork: Type.Boolean({
      default: false,
      description: 'give each Chrome a network namespace that has only loopback (Linux)',
    }),
    dns: Type.Array(Type.String(), {
      default: [],
      description: "a name server, ip or ip:port, instead of the system's",
    }),
    allow: Type.Array(Type.String(), {
      default: [],
      description: 'a destination to allow, as localhost:5173',
    }),
    deny: Type.Array(Type.String(), { default: [], description: 'a destination to deny, as *.ads.example' }),
    policy: Type.Optional(Type.String({ description: 'a JSON file with the network policy' })),
    pool: Type.Integer({ minimum: 0, maximum: 16, default: 1, description: 'browsers held ready; 0 = none' }),
    diskQuota: Type.Integer({
      minimum: 16,
      default: 1024,
      description: 'MiB that a session may hold on disk; over it the session is closed',
    }),
    maxSessions: Type.Optional(
      Type.Integer({ minimum: 1, description: 'open sessions at most (default: by memory)' }),
    ),
    node: Type.Optional(
      Type.String({ pattern: '^[a-z0-9]{1,16}$', description: 'prefix of session ids, for a load balancer' }),
    ),
    ttl: Duration('the longest life of a session', '1h'),
    idle: Duration('close a session after this long without a request', '10m'),
    drain: Duration('on SIGTERM, how long running operations may go on', '30s'),
    logLevel: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      default: 'info',
      description: 'trace, debug, info, warn, error, fatal or silent',
    }),
  },
  { additionalProperties: false },
);

export type Settings = Static<typeof SettingsSchema>;
type Name = keyof Settings;
export type Origin = 'flag' | 'file' | 'default';

export interface Config {
  readonly settings: Settings;
  /** Where each setting that has a value came from. */
  readonly origins: Readonly<Partial<Record<Name, Origin>>>;
  /** The config file that was looked for. */
  readonly file: string;
}

/** A fault in flags or the config file: one line for the user, exit code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const DURATIONS: ReadonlySet<string> = new Set(['ttl', 'idle', 'drain']);

const properties = SettingsSchema.properties;
const names = Object.keys(properties) as Name[];

/**
 * Settings from flags, then the config file, then defaults.
 * @param argv flags without the program and the command
 * @throws ConfigError an unknown flag or key, or a value that does not fit
 */
export function loadConfig(argv: readonly string[]): Config {
  const flags = readFlags(argv);
  const file = flags.file ?? join(configHome(), 'airlock', 'config.json');
  const fromFile = readConfigFile(file, flags.file !== undefined);
  const merged: Record<string, unknown> = {};
  const origins: Partial<Record<Name, Origin>> = {};
  for (const name of names) {
    const fallback = fact(name, 'default');
    const [value, origin]: [unknown, Origin] =
      flags.values[name] !== undefined
        ? [flags.values[name], 'flag']
        : fromFile[name] !== undefined
          ? [fromFile[name], 'file']
          : [fallback, 'default'];
    if (value === undefined) continue;
    merged[name] = value;
    origins[name] = origin;
  }
  const settings = check(merged, 'settings');
  checkDurations(settings);
  return { settings, origins, file };
}

/** `10m` → 600. A bare number is seconds. */
export function durationSec(text: string): number {
  const match = /^(\d+)(ms|s|m|h)?$/.exec(text);
  if (!match) throw new ConfigError(`"${text}" is not a duration such as 30s, 10m or 2h`);
  const factor = { ms: 0.001, s: 1, m: 60, h: 3600 }[match[2] ?? 's'] ?? 1;
  return Number(match[1]) * factor;
}

/** A week: the most that a session may ask for, too. */
const MAX_DURATION_SEC = 7 * 24 * 3600;

/** Without a life no session is alive when its caller hears of it. */
function checkDurations(settings: Settings): void {
  for (const name of ['ttl', 'idle', 'drain'] as const) {
    const seconds = durationSec(settings[name]);
    const flag = `--${name} ${settings[name]}`;
    if (seconds > MAX_DURATION_SEC) throw new ConfigError(`${flag}: at most 168h`);
    if (seconds === 0 && name !== 'drain') throw new ConfigError(`${flag}: must be more than 0`);
  }
}

/** The text of `--help`. */
export function flagsHelp(): string {
  const rows = names.map((name) => {
    const type = fact(name, 'type');
    const fallback = fact(name, 'default');
    const value = type === 'boolean' ? '' : type === 'integer' ? ' N' : ' VALUE';
    const repeat = type === 'array' ? ' (repeatable)' : '';
    const shown = typeof fallback === 'string' || typeof fallback === 'number' ? ` [${fallback}]` : '';
    const flag = `  --${kebab(name)}${value}`.padEnd(26);
    return `${flag}${String(fact(name, 'description'))}${repeat}${shown}`;
  });
  return [...rows, `${'  --config FILE'.padEnd(26)}the config file to read`].join('\n');
}

/** One keyword of a setting's schema. */
function fact(name: Name, keyword: 'type' | 'default' | 'description' | 'enum'): unknown {
  const schema: Record<string, unknown> = { ...properties[name] };
  return schema[keyword];
}

function readFlags(argv: readonly string[]): {
  values: Partial<Record<Name, unknown>>;
  file: string | undefined;
} {
  const options: Record<string, { type: 'string' | 'boolean'; multiple?: boolean }> = {
    config: { type: 'string' },
  };
  for (const name of names) {
    const type = fact(name, 'type');
    options[kebab(name)] = {
      type: type === 'boolean' ? 'boolean' : 'string',
      multiple: type === 'array',
    };
  }
  let parsed: Record<string, unknown>;
  try {
    parsed = parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new ConfigError(messageOf(error).split('. ')[0] ?? messageOf(error));
  }
  const values: Partial<Record<Name, unknown>> = {};
  for (const name of names) {
    const value = parsed[kebab(name)];
    if (value === undefined) continue;
    const integer = fact(name, 'type') === 'integer';
    if (integer && !/^\d{1,9}$/.test(String(value))) {
      throw new ConfigError(`--${kebab(name)} takes a whole number, not "${String(value)}"`);
    }
    values[name] = integer ? Number(value) : value;
  }
  return { values, file: typeof parsed['config'] === 'string' ? parsed['config'] : undefined };
}

function readConfigFile(file: string, required: boolean): Partial<Record<Name, unknown>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!required && error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new ConfigError(`The config file ${file} cannot be read: ${messageOf(error)}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`The config file ${file} is not JSON: ${messageOf(error)}`);
  }
  const partial = Type.Partial(SettingsSchema, { additionalProperties: false });
  if (Value.Check(partial, value)) return value;
  throw new ConfigError(`The config file ${file}: ${firstFault(partial, value)}`);
}

function check(merged: Record<string, unknown>, where: string): Settings {
  if (Value.Check(SettingsSchema, merged)) return merged;
  throw new ConfigError(`${where}: ${firstFault(SettingsSchema, merged)}`);
}

function firstFault(schema: Type.TSchema, value: unknown): string {
  const faults = Value.Errors(schema, value);
  // Of an unknown key the value is told first, as one that the schema `false` refuses.
  const fault = faults.find(({ keyword }) => keyword === 'additionalProperties') ?? faults[0];
  if (!fault) return 'does not fit';
  const name = fault.instancePath.slice(1).split('/')[0] ?? '';
  const flag = name === '' ? '' : `--${kebab(name)} `;
  const allowed: unknown = fault.keyword === 'enum' ? { ...fault.params } : undefined;
  const unknown = fault.keyword === 'additionalProperties' ? fault.params.additionalProperties[0] : undefined;
  if (unknown !== undefined) {
    const [near] = nearest(unknown, Object.keys(SettingsSchema.properties));
    return `there is no setting ${JSON.stringify(unknown)}${near === undefined ? '' : `; did you mean ${near}?`}`;
  }
  if (fault.keyword === 'pattern' && DURATIONS.has(name)) {
    return `${flag}takes a length of time such as 500ms, 30s, 10m or 2h`;
  }
  return `${flag}${fault.message}${allowed ? ` ${JSON.stringify(allowed)}` : ''}`;
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function configHome(): string {
  return process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
}

function stateHome(): string {
  return join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'airlock');
}

function dataHome(): string {
  return join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'airlock');
}
