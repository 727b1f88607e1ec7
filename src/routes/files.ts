import { Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { Download } from '../sessions/downloads.ts';
import type { StoredFile } from '../sessions/files.ts';
import type { Session } from '../sessions/session.ts';
import { defineOperation, FileBody } from './define.ts';

const tag = 'files';

const File = Type.Object({
  name: Type.String({ 'x-untrusted': true }),
  bytes: Type.Integer(),
  modifiedAt: Type.String({ format: 'date-time' }),
});

const Name = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 255 }) },
  { additionalProperties: false },
);

function tell({ name, bytes, modifiedAt }: StoredFile) {
  return { name, bytes, modifiedAt: new Date(modifiedAt).toISOString() };
}

const listFiles = defineOperation({
  name: 'files.list',
  method: 'GET',
  path: '/v1/sessions/{id}/files',
  summary: 'The files of the session: uploads, downloads, heap snapshots',
  tag,
  scope: 'observer',
  input: Type.Object({}, { additionalProperties: false }),
  result: Type.Object({ files: Type.Array(File) }),
  async run({ session }) {
    return { files: (await session.browser.files.list()).map(tell) };
  },
});

/** The whole quota of a session may be more; a file of a page's form seldom is. */
const MAX_UPLOAD_BYTES = 512 * 1024 ** 2;

const uploadFiles = defineOperation({
  name: 'files.upload',
  method: 'POST',
  path: '/v1/sessions/{id}/files',
  summary: 'Store files of a multipart body in the session',
  description:
    'Each part with a file name is one file. A name that is taken is not overwritten: the answer says under which one the file is.',
  tag,
  scope: 'observer',
  multipart: true,
  input: Type.Object({}, { additionalProperties: false }),
  result: Type.Object({ files: Type.Array(File) }),
  status: 201,
  errors: ['unsupported_media_type', 'malformed_body', 'too_large', 'quota_exceeded', 'disk_full'],
  async run({ session, request }) {
    const files: StoredFile[] = [];
    for await (const { name, content } of request.files()) {
      files.push(await session.browser.files.store(name, content, MAX_UPLOAD_BYTES));
    }
    if (files.length === 0)
      throw new AirlockError('invalid_request', 'The body has no part with a file name');
    return { files: files.map(tell) };
  },
});

const readFile = defineOperation({
  name: 'files.get',
  method: 'GET',
  path: '/v1/sessions/{id}/files/{name}',
  summary: 'The bytes of a file of the session',
  tag,
  scope: 'observer',
  input: Name,
  result: Type.Unknown(),
  binary: ['application/octet-stream'],
  errors: ['artifact_not_found'],
  async run({ session }, { name }) {
    const { handle, bytes } = await session.browser.files.open(name);
    return new FileBody(handle.createReadStream(), bytes, name);
  },
});

const removeFile = defineOperation({
  name: 'files.delete',
  method: 'DELETE',
  path: '/v1/sessions/{id}/files/{name}',
  summary: 'Delete a file of the session',
  tag,
  scope: 'observer',
  input: Name,
  result: Type.Object({ deleted: File }),
  errors: ['artifact_not_found'],
  async run({ session }, { name }) {
    return { deleted: tell(await session.browser.files.remove(name)) };
  },
});

function tellDownload(session: Session, download: Download) {
  const mime = session.browser.downloads.mimeOf(download);
  return {
    id: download.id,
    url: download.url,
    suggestedName: download.suggestedName,
    state: download.state,
    ...(download.name === undefined ? {} : { name: download.name }),
    ...(mime === undefined ? {} : { mime }),
    bytes: download.receivedBytes,
    ...(download.totalBytes > 0 ? { totalBytes: download.totalBytes } : {}),
    ...(download.error === undefined ? {} : { error: download.error }),
    startedAt: new Date(download.startedAt).toISOString(),
  };
}

const listDownloads = defineOperation({
  name: 'downloads.list',
  method: 'GET',
  path: '/v1/sessions/{id}/downloads',
  summary: 'What pages offered to download, and what became of it',
  tag,
  scope: 'observer',
  input: Type.Object({}, { additionalProperties: false }),
  result: Type.Object({
    downloads: Type.Array(
      Type.Object({
        id: Type.String(),
        url: Type.String({ 'x-untrusted': true }),
        suggestedName: Type.String({ 'x-untrusted': true }),
        state: Type.Enum(['inProgress', 'completed', 'canceled', 'denied']),
        name: Type.Optional(
          Type.String({
            'x-untrusted': true,
            description: 'of the file, once it is whole: GET files/{name}',
          }),
        ),
        mime: Type.Optional(
          Type.String({ 'x-untrusted': true, description: 'media type of the answer, where it was seen' }),
        ),
        bytes: Type.Integer({ description: 'received' }),
        totalBytes: Type.Optional(Type.Integer({ description: 'where the server told it' })),
        error: Type.Optional(
          Type.String({ description: 'why it came to nothing, where the page is not why' }),
        ),
        startedAt: Type.String({ format: 'date-time' }),
      }),
    ),
  }),
  async run({ session }) {
    return {
      downloads: session.browser.downloads.list().map((download) => tellDownload(session, download)),
    };
  },
});

export const fileOperations = [listFiles, uploadFiles, readFile, removeFile, listDownloads];
