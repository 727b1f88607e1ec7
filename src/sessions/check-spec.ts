import { Script } from 'node:vm';
import { AirlockError, messageOf } from '../errors.ts';
import type { SessionSpec } from './spec.ts';

/** The most that the service lets a session ask for, in seconds. */
export interface Ceilings {
  readonly ttlSec: number;
  readonly idleSec: number;
}

/**
 * Checks what the schema cannot say of the options of a session, before anything is started for it.
 * @throws AirlockError `invalid_request` with the JSON pointer
 */
export function checkSpec(spec: SessionSpec, ceilings: Ceilings): void {
  checkLimits(spec, ceilings);
  const { locale, timezone, extraHeaders = {}, initScripts = [], storageState } = spec;
  if (locale !== undefined && !isLocale(locale)) {
    throw refusal('/locale', `${JSON.stringify(locale)} is no BCP 47 language tag, such as pt-BR`);
  }
  if (timezone !== undefined && canonicalTimeZone(timezone) === undefined) {
    const shown = JSON.stringify(timezone);
    throw refusal('/timezone', `${shown} is no time zone of the IANA database, such as America/Sao_Paulo`);
  }
  for (const [name, value] of Object.entries(extraHeaders)) checkHeader(name, value);
  for (const [index, source] of initScripts.entries()) checkScript(`/initScripts/${index}`, source);
  if (storageState !== undefined && Object.keys(storageState).length === 0) {
    throw refusal('/storageState', 'has neither cookies nor origins');
  }
}

/** @throws AirlockError `invalid_request` for a length of life over that of the service */
export function checkLimits(asked: { ttlSec?: number; idleSec?: number }, ceilings: Ceilings): void {
  for (const name of ['ttlSec', 'idleSec'] as const) {
    const wanted = asked[name];
    if (wanted === undefined || wanted <= ceilings[name]) continue;
    throw refusal(`/${name}`, `must be <= ${ceilings[name]}, the limit of this service`);
  }
}

/** The name as ICU spells it: Chrome takes other spellings without an error, and keeps the zone that it had. */
export function canonicalTimeZone(name: string): string | undefined {
  // An offset (+01:00) is one to Intl, but UTC to Chrome.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Chrome takes what is well formed, also for a language that it does not know. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll('_', '-')).length === 1;
  } catch {
    return false;
  }
}

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/**
 * Headers that are not the caller's to set: with one of these Chrome fails every request (most, and `Origin` and `Sec-…`
 * those of scripts), waits for a 100 that never comes (`Expect`), or leaves it out (`Referer`). Measured on 156.
 */
const RESERVED = new Set(
  (
    'connection content-length cookie2 expect host keep-alive origin referer set-cookie te trailer ' +
    'transfer-encoding upgrade'
  ).split(' '),
);

function checkHeader(name: string, value: string): void {
  const pointer = `/extraHeaders/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (!TOKEN.test(name)) throw refusal(pointer, 'is not the name of a header (RFC 9110 token)');
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || lower.startsWith('proxy-') || lower.startsWith('sec-')) {
    throw refusal(pointer, 'is a header that the browser sets itself');
  }
  if (CONTROL.test(value)) throw refusal(pointer, 'the value has a control character');
}

/** A script that cannot be parsed would fail in every document, where nobody sees it. It is compiled and never run. */
function checkScript(pointer: string, source: string): void {
  try {
    new Script(source, { filename: 'initScript' });
  } catch (error) {
    const line = /^initScript:(\d+)/.exec(error instanceof Error ? (error.stack ?? '') : '')?.[1];
    throw refusal(pointer, `${messageOf(error)}${line === undefined ? '' : ` (line ${line})`}`);
  }
}

function refusal(pointer: string, detail: string): AirlockError {
  return new AirlockError('invalid_request', `${pointer}: ${detail}`, { extra: { pointer } });
}
