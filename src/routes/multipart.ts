import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AirlockError, messageOf } from '../errors.ts';
import { MAX_UPLOAD_BYTES, tooLarge, type UploadFolder } from '../sessions/upload-folder.ts';

/** Of one body. Fields are small: a target, names. */
const LIMITS = { fileSize: MAX_UPLOAD_BYTES, files: 100, fields: 200, fieldSize: 64 * 1024, parts: 300 };

/** Lets the routes of a scope take `multipart/form-data`; all others refuse it (415). */
export async function acceptMultipart(scope: FastifyInstance): Promise<void> {
  await scope.register(multipart, { limits: LIMITS });
}

/**
 * Reads a multipart body: files into the folder, as they come; other parts are members of the input, those of one name a list.
 * @throws AirlockError `too_large`, `malformed_body`, those of `UploadFolder.add`
 */
export async function readMultipart(
  request: FastifyRequest,
  folder: UploadFolder,
): Promise<Record<string, unknown>> {
  if (Number(request.headers['content-length']) > MAX_UPLOAD_BYTES + LIMITS.parts * LIMITS.fieldSize)
    throw tooLarge(MAX_UPLOAD_BYTES);
  const members = new Map<string, string[]>();
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') {
        await folder.add(part.filename, part.file);
        if (part.file.truncated) throw tooLarge(MAX_UPLOAD_BYTES);
      } else {
        if (part.valueTruncated) throw tooLarge(LIMITS.fieldSize);
        members.set(part.fieldname, [...(members.get(part.fieldname) ?? []), String(part.value)]);
      }
    }
  } catch (error) {
    throw partError(error);
  }
  return Object.fromEntries(
    [...members].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

function partError(error: unknown): unknown {
  if (error instanceof AirlockError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^FST_(?:PARTS|FILES|FIELDS)_LIMIT$|^FST_REQ_FILE_TOO_LARGE$/.test(code))
    return new AirlockError('too_large', `The body is over a limit: ${messageOf(error)}`, { cause: error });
  // Faults of the disk have a code of the system; what is left is a body that is no multipart.
  if (/^E[A-Z]+$/.test(code) && code !== 'EPIPE') return error;
  return new AirlockError('malformed_body', `The body is no multipart/form-data: ${messageOf(error)}`, {
    cause: error,
  });
}
