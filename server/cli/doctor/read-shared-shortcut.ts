import { parseBuffer } from 'bplist-parser';
import { type Static, Type } from 'typebox';
import { Check as isValid } from 'typebox/value';
import { type Authorities, get } from './public-client.ts';

/** The shortcut that an iCloud link offers. */
export interface SharedShortcut {
  readonly name: string;
  /** The property list as JSON, so dates are texts. */
  readonly workflow: unknown;
}

/** `isGone` is true if the link offers no shortcut any more; otherwise the reason may pass. */
export interface NotShared {
  readonly reason: string;
  readonly isGone: boolean;
}

/**
 * The public record of a shared shortcut, as far as it is read. The address of the unsigned file has the placeholder
 * `${f}` for a file name.
 */
const SharedRecord = Type.Object({
  fields: Type.Object({
    name: Type.Object({ value: Type.String() }),
    shortcut: Type.Object({ value: Type.Object({ downloadURL: Type.String({ pattern: '^https://' }) }) }),
  }),
});

const timeoutMs = 10_000;

/** Bytes that the parser may read, with some more for each read. The files of this release cost less than a tenth. */
const parseCostMax = 2_000_000;
const sliceCost = 16;

/** Reads the record of a link such as `https://www.icloud.com/shortcuts/<id>`, and the file that it names. */
export async function readSharedShortcut(
  link: string,
  authorities?: Authorities,
): Promise<SharedShortcut | NotShared> {
  const { origin, pathname } = new URL(link);
  const [, id] = /^\/shortcuts\/([\w-]+)\/?$/.exec(pathname) ?? [];
  if (id === undefined) return { reason: 'it is no link to a shared shortcut', isGone: true };
  const read = async (url: string) => {
    const answer = await get({ url, headers: {}, timeoutMs, ...(authorities && { authorities }) });
    if ('code' in answer) return { reason: `${new URL(url).host} failed with ${answer.code}`, isGone: false };
    if (answer.status === 200) return answer.body;
    return {
      reason: `${new URL(url).host} answered with ${answer.status}`,
      isGone: answer.status === 404 || answer.status === 410,
    };
  };
  const json = await read(`${origin}/shortcuts/api/records/${id}`);
  if (!Buffer.isBuffer(json)) return json;
  const record = parseRecord(json);
  if (!record) return { reason: `the record of ${origin} has another form than expected`, isGone: false };
  const { name, shortcut } = record.fields;
  const file = await read(shortcut.value.downloadURL.replace(/\$\{f\}/, 'shared.shortcut'));
  // The file may be missing for a moment, while the record is there.
  if (!Buffer.isBuffer(file)) return { ...file, isGone: false };
  try {
    return { name: name.value, workflow: JSON.parse(JSON.stringify(parseBounded(file))) };
  } catch {
    return { reason: 'its file is no binary property list', isGone: false };
  }
}

/**
 * Parses a binary property list with a bound on the work. The parser reads an object anew for each reference to it. So
 * in a small file, arrays that name another one twice would fill the memory. It reads each part by `slice`.
 */
function parseBounded(file: Buffer): unknown {
  let left = parseCostMax;
  const slice = (start: number, end: number) => {
    left -= sliceCost + end - start;
    // NaN, of a reference to no object, is refused as well.
    if (!(left >= 0)) throw new RangeError('the property list is too large');
    return file.subarray(start, end);
  };
  return parseBuffer(Object.assign(file, { slice }))[0];
}

function parseRecord(json: Buffer): Static<typeof SharedRecord> | undefined {
  try {
    const record: unknown = JSON.parse(json.toString());
    return isValid(SharedRecord, record) ? record : undefined;
  } catch {
    return undefined;
  }
}
