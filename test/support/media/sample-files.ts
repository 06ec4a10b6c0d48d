import { crc32, deflateSync } from 'node:zlib';

/** A `ftyp` box of the ISO base media format with its brands, followed by some content. */
function ftyp(brand: string, ...compatible: readonly string[]): Buffer {
  const brands = Buffer.from([brand, '\0\0\0\0', ...compatible].join(''), 'latin1');
  return Buffer.concat([
    sized(8 + brands.length),
    Buffer.from('ftyp'),
    brands,
    Buffer.from('\0\0\0\x10mdatdata1234'),
  ]);
}

function sized(bytes: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(bytes);
  return size;
}

function pngChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([sized(data.length), content, sized(crc32(content))]);
}

/** A PNG of one pixel. */
export const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a', 'hex'),
  pngChunk('IHDR', Buffer.from('00000001000000010806000000', 'hex')),
  pngChunk('IDAT', deflateSync(Buffer.alloc(5))),
  pngChunk('IEND', Buffer.alloc(0)),
]);

/** A PNG with a gradient, which a browser shows. */
export function pictureOf(width: number, height: number): Buffer {
  const head = Buffer.from('00000000000000000802000000', 'hex');
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const row = (y: number) => [0, ...Array.from({ length: width }, (_, x) => [x % 256, y % 256, 160]).flat()];
  const pixels = Buffer.from(Array.from({ length: height }, (_, y) => row(y)).flat());
  return Buffer.concat([
    png.subarray(0, 8),
    pngChunk('IHDR', head),
    pngChunk('IDAT', deflateSync(pixels)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A PNG with one frame and the chunk of an animated one. */
const animatedPng = Buffer.concat([
  png.subarray(0, 33),
  pngChunk('acTL', Buffer.from('0000000100000000', 'hex')),
  png.subarray(33),
]);

/** Beginnings of files that Messages shows, with their type and file extension. */
export const shownFiles: readonly (readonly [type: string, extension: string, bytes: Buffer])[] = [
  ['image/jpeg', 'jpg', Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')],
  ['image/png', 'png', png],
  ['image/gif', 'gif', Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1')],
  ['image/heic', 'heic', ftyp('heic', 'mif1', 'heic')],
  ['image/heif', 'heif', ftyp('mif1', 'mif1', 'heic')],
  ['image/webp', 'webp', Buffer.from('RIFF\x20\0\0\0WEBPVP8 \x14\0\0\0aaaaaaaaaaaaaaaaaaaa', 'latin1')],
  ['image/tiff', 'tiff', Buffer.from('49492a00ffff000000', 'hex')],
  ['image/bmp', 'bmp', Buffer.from('BM\x3a\0\0\0\0\0\0\0\x36\0\0\0', 'latin1')],
  ['video/mp4', 'mp4', ftyp('isom', 'isom', 'mp42')],
  ['video/quicktime', 'mov', ftyp('qt  ', 'qt  ')],
  ['video/x-m4v', 'm4v', ftyp('M4V ', 'M4V ')],
  ['video/3gpp', '3gp', ftyp('3gp4', '3gp4')],
  [
    'audio/mpeg',
    'mp3',
    Buffer.concat([Buffer.from('ID3\x04\0\0\0\x7f\x7f\x7f', 'latin1'), Buffer.alloc(64)]),
  ],
  ['audio/x-m4a', 'm4a', ftyp('M4A ', 'M4A ')],
  ['audio/aac', 'aac', Buffer.from('fff15080021ffcfff15080021ffc', 'hex')],
  ['audio/wav', 'wav', Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0', 'latin1')],
  ['audio/amr', 'amr', Buffer.from('#!AMR\n\x04\0\0\0', 'latin1')],
  ['audio/x-caf', 'caf', Buffer.from('caff\0\x01\0\0desc', 'latin1')],
  ['audio/aiff', 'aiff', Buffer.from('FORM\0\0\0\x20AIFFCOMM', 'latin1')],
  ['application/pdf', 'pdf', Buffer.from('%PDF-1.7\n%%EOF\n')],
  ['text/vcard', 'vcf', Buffer.from('BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Example\r\nEND:VCARD\r\n')],
  ['text/calendar', 'ics', Buffer.from('BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n')],
];

/** Files in unusual forms, with their type and file extension. */
export const unusualFiles: readonly (readonly [
  what: string,
  type: string,
  extension: string,
  bytes: Buffer,
])[] = [
  ['an animated PNG', 'image/png', 'png', animatedPng],
  [
    'a vCard in small letters',
    'text/vcard',
    'vcf',
    Buffer.from('begin:vcard\r\nversion:4.0\r\nend:vcard\r\n'),
  ],
  ['a calendar in small letters', 'text/calendar', 'ics', Buffer.from('begin:vcalendar\nend:vcalendar\n')],
  ['a vCard behind a byte order mark', 'text/vcard', 'vcf', Buffer.from('\uFEFFBegin:vCard\nend:vcard\n')],
];

/** Files that Messages does not show, or that a browser would run. */
export const otherFiles: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
  ['XML', Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['JavaScript', Buffer.from('alert(1)')],
  ['plain text', Buffer.from('Hello')],
  ['a ZIP file', Buffer.from('504b0304140000000800000000000000000000000000000000000000', 'hex')],
  ['a gzip file', Buffer.from('1f8b0800000000000003', 'hex')],
  ['a program', Buffer.from('7f454c4602010100000000000000000002003e00', 'hex')],
  ['AVIF', ftyp('avif', 'avif', 'mif1')],
];

/** A JPEG of exactly this size, whose bytes differ from position to position. */
export function jpegOf(sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 4)
    bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, Math.min(at, sizeBytes - 4));
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex').copy(bytes);
  return bytes;
}
