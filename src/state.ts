import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from './config.ts';
import { messageOf } from './errors.ts';

/** A token is one line of visible ASCII. */
const TOKEN = /^[\x21-\x7e]{8,512}$/;

/**
 * The bearer token: from the file that the operator named, else from the state directory, where the first start makes
 * one (0600, 256 random bits).
 * @param mayMake false on a network address: there, the token is to be one that its operator has chosen to give out
 * @throws ConfigError the file cannot be read or does not hold a token
 */
export async function readToken(
  named: string | undefined,
  stateDir: string,
  mayMake: boolean,
): Promise<string> {
  const path = named ?? join(stateDir, 'token');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (named === undefined && error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      if (mayMake) return makeToken(path);
      throw new ConfigError(`A network address needs a token: write one to ${path}, or give --token-file`);
    }
    throw new ConfigError(`The token file ${path} cannot be read: ${messageOf(error)}`);
  }
  const token = text.trim();
  if (!TOKEN.test(token))
    throw new ConfigError(`The token file ${path} does not hold a token (8 to 512 characters)`);
  return token;
}

async function makeToken(path: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  try {
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new ConfigError(`The token file ${path} cannot be made: ${messageOf(error)}`);
  }
  return token;
}

/** @throws ConfigError the file cannot be read or is not JSON */
export async function readPolicyFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(`The policy file ${path} cannot be used: ${messageOf(error)}`);
  }
}
