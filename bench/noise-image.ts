import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Bytes of a pixel: red, green, blue. */
const RGB = 3;

/** A square PNG of random colours, which no compression makes smaller: some `3 × side²` bytes. */
export function noiseImage(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Eight bits a sample, true colour, no interlacing.
  header.set([8, 2, 0, 0, 0], 8);
  // Each line begins with its filter: none.
  const lines = Array.from({ length: side }, () => Buffer.concat([Buffer.of(0), randomBytes(side * RGB)]));
  const pixels = deflateSync(Buffer.concat(lines));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** PNG 3rd edition, section 5.3: length, type, data, check value of type and data. */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
