import { checkInteger, isPropertyArray, type PropertyList } from './property-list.ts';

/**
 * Writes a binary property list (`bplist00`): header, objects, offset table, trailer. Equal texts share an object. The
 * same value gives the same bytes.
 */
export function writeBinaryPropertyList(value: PropertyList): Buffer {
  const objects: PropertyList[] = [];
  const referencesOf = new Map<PropertyList, readonly number[]>();
  const scalars = new Map<string | number | boolean, number>();

  /** Numbers a value and everything inside it. The references of a dictionary are its keys, then its values. */
  const add = (item: PropertyList): number => {
    if (typeof item !== 'object') {
      const known = scalars.get(item);
      if (known !== undefined) return known;
      scalars.set(item, objects.length);
      return objects.push(item) - 1;
    }
    const index = objects.push(item) - 1;
    if (item instanceof Date) return index;
    const children = isPropertyArray(item) ? item : [...Object.keys(item), ...Object.values(item)];
    referencesOf.set(item, children.map(add));
    return index;
  };
  add(value);

  const referenceBytes = bytesFor(objects.length - 1);
  const encoded = objects.map((item) => encode(item, referencesOf.get(item) ?? [], referenceBytes));
  const header = Buffer.from('bplist00', 'latin1');
  const offsets: number[] = [];
  let end = header.length;
  for (const part of encoded) {
    offsets.push(end);
    end += part.length;
  }
  const offsetBytes = bytesFor(end);
  const table = Buffer.concat(offsets.map((offset) => unsigned(offset, offsetBytes)));
  return Buffer.concat([
    header,
    ...encoded,
    table,
    trailer(objects.length, end, offsetBytes, referenceBytes),
  ]);
}

function encode(item: PropertyList, references: readonly number[], referenceBytes: number): Buffer {
  if (typeof item === 'boolean') return Buffer.from([item ? 0x09 : 0x08]);
  if (typeof item === 'number') return encodeInteger(checkInteger(item));
  if (typeof item === 'string') {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range.
    const isAscii = /^[\u0000-\u007f]*$/.test(item);
    const bytes = isAscii ? Buffer.from(item, 'latin1') : Buffer.from(item, 'utf16le').swap16();
    return Buffer.concat([marker(isAscii ? 0x50 : 0x60, item.length), bytes]);
  }
  if (item instanceof Date) return encodeDate(item);
  const count = isPropertyArray(item) ? item.length : references.length / 2;
  const kind = isPropertyArray(item) ? 0xa0 : 0xd0;
  return Buffer.concat([
    marker(kind, count),
    ...references.map((reference) => unsigned(reference, referenceBytes)),
  ]);
}

/** A length of 15 or more follows the marker as an integer. */
function marker(kind: number, count: number): Buffer {
  if (count < 15) return Buffer.from([kind | count]);
  return Buffer.concat([Buffer.from([kind | 0x0f]), encodeInteger(count)]);
}

/** Seconds since 2001, as a double. */
function encodeDate(date: Date): Buffer {
  const bytes = Buffer.alloc(9, 0x33);
  bytes.writeDoubleBE((date.getTime() - Date.UTC(2001, 0)) / 1_000, 1);
  return bytes;
}

/** Negative numbers always take 8 bytes, because shorter integers are read as unsigned. */
function encodeInteger(value: number): Buffer {
  if (value < 0) {
    const bytes = Buffer.alloc(9, 0x13);
    bytes.writeBigInt64BE(BigInt(value), 1);
    return bytes;
  }
  const size = bytesFor(value);
  return Buffer.concat([Buffer.from([0x10 | Math.log2(size)]), unsigned(value, size)]);
}

/** The number of bytes for an unsigned integer: 1, 2, 4 or 8. */
function bytesFor(value: number): number {
  return [1, 2, 4].find((size) => value < 2 ** (8 * size)) ?? 8;
}

function unsigned(value: number, size: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes.subarray(8 - size);
}

function trailer(count: number, tableOffset: number, offsetBytes: number, referenceBytes: number): Buffer {
  return Buffer.concat([
    Buffer.from([0, 0, 0, 0, 0, 0, offsetBytes, referenceBytes]),
    unsigned(count, 8),
    unsigned(0, 8),
    unsigned(tableOffset, 8),
  ]);
}
