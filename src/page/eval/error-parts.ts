import type { CdpSession, Protocol } from '../cdp.ts';
import type { Operation } from '../operation.ts';

/** Of a thrown Error, read in the page: a subclass may have put its name anywhere. Every read may throw. */
const PARTS = `function () {
  'use strict';
  const read = (name) => { try { const v = this[name]; return typeof v === 'string' ? v : ''; } catch { return ''; } };
  return { __proto__: null, name: read('name'), message: read('message'), stack: read('stack') };
}`;

/** Longest text that is kept of a message or a stack. */
export const MAX_TEXT = 10_000;

export interface ErrorParts {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/** Name, message and stack of an Error of the page; Chrome's own description where the page's members say nothing. */
export async function errorParts(
  op: Operation,
  session: CdpSession,
  error: Protocol.Runtime.RemoteObject,
  objectId: string,
): Promise<ErrorParts> {
  const answer = await op.send(session, 'Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: PARTS,
    returnByValue: true,
  });
  const read: unknown = answer.result.value;
  const parts = typeof read === 'object' && read !== null ? { ...read } : {};
  const description = error.description ?? '';
  const [, message = description] = /^[\w$.]*(?:Error)?: ([\s\S]*?)(?:\n {4}at |$)/.exec(description) ?? [];
  return {
    name: text(parts, 'name') || error.className || 'Error',
    message: text(parts, 'message') || message.slice(0, MAX_TEXT),
    stack: text(parts, 'stack') || description.slice(0, MAX_TEXT),
  };
}

function text(parts: Record<string, unknown>, name: string): string {
  const value = parts[name];
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : '';
}
