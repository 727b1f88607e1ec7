import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AirlockError, messageOf } from '../errors.ts';
import type { UploadFolder } from '../sessions/upload-folder.ts';
import type { UploadedFile } from './define.ts';

/** Lets multipart bodies through to the operations that read them; each file is bounded where it is stored. */
export async function addMultipart(app: FastifyInstance): Promise<void> {
  await app.register(multipart, {
    throwFileSizeLimit: false,
    limits: {
      files: 100,
      fields: 100,
      parts: 200,
      fieldSize: 64 * 1024,
      headerPairs: 20,
      fileSize: Infinity,
    },
  });
}

/**
 * The files of a multipart body, one after the other. Its other parts mean nothing here and are refused.
 * @throws AirlockError `unsupported_media_type`, `malformed_body`, `too_large`
 */
export async function* filesOf(request: FastifyRequest): AsyncGenerator<UploadedFile> {
  if (!request.isMultipart()) {
    throw new AirlockError('unsupported_media_type', 'Send the files as multipart/form-data', {
      advice: 'form',
    });
  }
  try {
    for await (const part of request.parts({ preservePath: true })) {
      if (part.type !== 'file') {
        throw new AirlockError('invalid_request', `The part ${JSON.stringify(part.fieldname)} is no file`);
      }
      yield { name: part.filename, content: contentOf(part.file) };
    }
  } catch (error) {
    throw error instanceof AirlockError ? error : brokenBody(error);
  } finally {
    drop(request);
  }
}

/**
 * A form that is the input of an operation: its files go into the folder, as they come; its other parts are members, those of
 * one name a list.
 * @throws AirlockError `malformed_body`, `too_large`, those of `UploadFolder.add`
 */
export async function readForm(
  request: FastifyRequest,
  folder: UploadFolder,
): Promise<Record<string, unknown>> {
  const members = new Map<string, string[]>();
  try {
    for await (const part of request.parts({ preservePath: true })) {
      if (part.type === 'file') await folder.add(part.filename, contentOf(part.file));
      else members.set(part.fieldname, [...(members.get(part.fieldname) ?? []), textOf(part)]);
    }
  } catch (error) {
    throw error instanceof AirlockError ? error : brokenBody(error);
  } finally {
    drop(request);
  }
  return Object.fromEntries(
    [...members].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

function textOf(part: { fieldname: string; value: unknown; valueTruncated: boolean }): string {
  if (!part.valueTruncated) return String(part.value);
  throw new AirlockError('too_large', `The part ${JSON.stringify(part.fieldname)} is over its limit`);
}

/** A client that still sends would not read the answer: what is left is read and dropped. */
function drop(request: FastifyRequest): void {
  request.raw.unpipe();
  request.raw.resume();
}

/** The bytes of one part; that the body ends too early is a fault of the body. */
async function* contentOf(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* file;
  } catch (error) {
    throw brokenBody(error);
  }
}

function brokenBody(error: unknown): AirlockError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const what = /LIMIT/.test(code) ? 'too_large' : 'malformed_body';
  return new AirlockError(what, `The multipart body: ${messageOf(error)}`, { cause: error });
}

/** RFC 6266: the name in ASCII, and as it is. */
export function attachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const whole = encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}
