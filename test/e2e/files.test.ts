import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import { TestService } from '../support/service.ts';

const service = await TestService.start(['--pool', '0', '--disk-quota', '64']);
afterEach(() => service.delete('/v1/sessions').then(() => undefined));
afterAll(() => service[Symbol.asyncDispose]());

const auth = { authorization: `Bearer ${service.token}` };

async function upload(path: string, files: Record<string, Uint8Array | string>) {
  const form = new FormData();
  for (const [name, content] of Object.entries(files))
    form.append('file', new File([content as BlobPart], name));
  const response = await fetch(`${service.baseUrl}${path}/files`, {
    method: 'POST',
    headers: auth,
    body: form,
  });
  return { status: response.status, body: await response.json() };
}

test('files go in, are listed, come out byte for byte, and go', async () => {
  const path = await service.session();
  const big = randomBytes(8 * 1024 * 1024);
  const put = await upload(path, { 'big.bin': big, 'olá [x].txt': 'olá' });
  expect(put.status).toBe(201);
  expect(put.body.files).toMatchObject([
    { name: 'big.bin', bytes: big.length },
    { name: 'olá [x].txt', bytes: 4 },
  ]);
  const again = await upload(path, { 'big.bin': 'other' });
  expect(again.body.files).toMatchObject([{ name: 'big (1).bin', bytes: 5 }]);

  const listed = await service.get(`${path}/files`);
  expect(listed.body.files.map((file: { name: string }) => file.name)).toEqual([
    'big (1).bin',
    'big.bin',
    'olá [x].txt',
  ]);

  const response = await fetch(`${service.baseUrl}${path}/files/big.bin`, { headers: auth });
  expect(response.headers.get('content-length')).toBe(String(big.length));
  expect(response.headers.get('airlock-untrusted')).toBe('page');
  const sum = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  expect(sum(new Uint8Array(await response.arrayBuffer()))).toBe(sum(big));
  const named = await fetch(`${service.baseUrl}${path}/files/${encodeURIComponent('olá [x].txt')}`, {
    headers: auth,
  });
  expect(await named.text()).toBe('olá');
  expect(named.headers.get('content-type')).toBe('application/octet-stream');
  expect(named.headers.get('content-disposition')).toBe(
    `attachment; filename="ol_ [x].txt"; filename*=UTF-8''ol%C3%A1%20%5Bx%5D.txt`,
  );

  expect((await service.delete(`${path}/files/big.bin`)).body.deleted.name).toBe('big.bin');
  expect((await service.get(`${path}/files/big.bin`)).body).toMatchObject({
    status: 404,
    code: 'artifact_not_found',
  });
  expect((await service.delete(`${path}/files/big.bin`)).status).toBe(404);
  const [receipt] = (await service.delete('/v1/sessions')).body.receipts;
  expect(receipt.zero).toBe(true);
});

test.each(['..%2F..%2Fowner.json', '%2e%2e', '..%5c', 'a%00', encodeURIComponent('🙂'.repeat(60))])(
  'no file is found under %s',
  async (name) => {
    const path = await service.session();
    for (const method of ['GET', 'DELETE']) {
      const answer = await service.call(method, `${path}/files/${name}`);
      expect(answer.body.status).toBe(404);
    }
    // The session is as it was: `..` did not lead to its own route.
    expect((await service.get(path)).status).toBe(200);
  },
);

test('an upload over the quota is 507, and the client hears of it while it still sends', async () => {
  const path = await service.session();
  const put = await upload(path, { 'small.txt': 'x', 'huge.bin': new Uint8Array(80 * 1024 * 1024) });
  expect(put.body).toMatchObject({ status: 507, code: 'quota_exceeded' });
  const listed = await service.get(`${path}/files`);
  expect(listed.body.files).toMatchObject([{ name: 'small.txt' }]);
  expect((await upload(path, { 'next.txt': 'x' })).status).toBe(201);
});

test('names that lead elsewhere are refused, and nothing is stored', async () => {
  const path = await service.session();
  const boundary = 'x1';
  for (const name of ['../up.txt', '/etc/up.txt', '..', 'a\\b']) {
    const body = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name.replace('\\', '\\\\')}"\r\n\r\nx\r\n--${boundary}--\r\n`;
    const response = await fetch(`${service.baseUrl}${path}/files`, {
      method: 'POST',
      headers: { ...auth, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body,
    });
    expect(await response.json()).toMatchObject({ status: 422, code: 'invalid_request' });
  }
  expect((await service.get(`${path}/files`)).body.files).toEqual([]);
});

test.each([
  ['application/json', '{}', 415, 'unsupported_media_type'],
  [
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
    422,
    'invalid_request',
  ],
  ['multipart/form-data; boundary=x', '--x--\r\n', 422, 'invalid_request'],
  [
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nhalf',
    400,
    'malformed_body',
  ],
  ['multipart/form-data', 'x', 400, 'malformed_body'],
])('%s with %j is %i %s', async (type, body, status, code) => {
  const path = await service.session();
  const response = await fetch(`${service.baseUrl}${path}/files`, {
    method: 'POST',
    headers: { ...auth, 'content-type': type },
    body,
  });
  expect(await response.json()).toMatchObject({ status, code });
  expect((await service.get(`${path}/files`)).body.files).toEqual([]);
});

test('a route that takes JSON does not take a form for an empty body', async () => {
  const form = new FormData();
  form.append('file', new File(['x'], 'x'));
  const response = await fetch(`${service.baseUrl}/v1/sessions`, {
    method: 'POST',
    headers: auth,
    body: form,
  });
  expect(await response.json()).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  expect((await service.get('/v1/sessions')).body.sessions).toEqual([]);
});
