import { join } from 'node:path';
import { parseBuffer } from 'bplist-parser';
import { type Static, Type } from 'typebox';
import { Check as isValid } from 'typebox/value';
import type { FileForm, InstallWay } from '#contract/setup.ts';
import type { Config } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { publishedForms, shortcutFileName } from '#server/setup/install-way.ts';
import { readSignedFile, ShortcutSigner, shortcutFolder } from '#server/setup/shortcut-signer.ts';
import { buildWorkflow, inbound, outbox, type Shortcut, shortcuts } from '#shortcut/shortcuts.ts';
import { type Check, failed, ok, warning } from './check.ts';
import { findDifferences } from './compare-workflow.ts';
import { type Authorities, send } from './public-client.ts';

/** The shortcut that an iCloud link offers. */
export interface SharedShortcut {
  readonly name: string;
  /** The property list as JSON, so dates are texts. */
  readonly workflow: unknown;
}

/** `isGone` is true if the link offers no shortcut any more. Otherwise a later try may succeed. */
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
async function readSharedShortcut(
  link: string,
  authorities?: Authorities,
): Promise<SharedShortcut | NotShared> {
  const { origin, pathname } = new URL(link);
  const [, id] = /^\/shortcuts\/([\w-]+)\/?$/.exec(pathname) ?? [];
  if (id === undefined) return { reason: 'it is no link to a shared shortcut', isGone: true };
  const read = async (url: string) => {
    const answer = await send({ url, headers: {}, timeoutMs, ...(authorities && { authorities }) });
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
  // iCloud may offer the record without its file for a moment, so the shortcut does not count as gone.
  if (!Buffer.isBuffer(file)) return { ...file, isGone: false };
  try {
    return { name: name.value, workflow: JSON.parse(JSON.stringify(parseBounded(file))) };
  } catch {
    return { reason: 'its file is no binary property list', isGone: false };
  }
}

/**
 * Parses a binary property list with a bound on the work. The parser reads an object anew for each reference to it. So
 * a small file, in which arrays refer to other arrays twice, could fill the memory. The parser reads each part with
 * `slice`, where the work is counted.
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

const formNames: Readonly<Record<FileForm, string>> = { 26: 'iOS 17 to 26', 27: 'iOS 27' };

const settingsOf = {
  26: { outbox: 'SHORTCUT_OUTBOX_URL', inbound: 'SHORTCUT_INBOUND_URL' },
  27: { outbox: 'SHORTCUT_OUTBOX_27_URL', inbound: 'SHORTCUT_INBOUND_27_URL' },
} as const;

/** Checks how iPhones get the shortcuts of each form, and that each link leads to the shortcut of this release. */
export async function* checkShortcuts(config: Config, authorities?: Authorities): AsyncGenerator<Check> {
  const services = { config, logger: createLogger('silent'), clock: new Clock() };
  const { shortcutSignCommand: command } = config;
  const ways = await publishedForms({
    ...services,
    signer: command && new ShortcutSigner(services, command),
  });
  for (const form of [26, 27] as const) {
    yield ways[form] === 'by_hand'
      ? warnUnpublished(form, await findFileProblems(config, form))
      : published(form, ways[form]);
    const links = config.shortcutLinks[form];
    if (!links) continue;
    for (const [shortcut, kind] of [
      [outbox, 'outbox'],
      [inbound, 'inbound'],
    ] as const)
      yield* checkLink(settingsOf[form][kind], links[kind], { shortcut, form, authorities });
  }
}

function published(form: FileForm, way: Exclude<InstallWay['kind'], 'by_hand'>): Check {
  const name = 'shortcuts';
  const who = `iPhones with ${formNames[form]}`;
  switch (way) {
    case 'signed':
      return ok(name, `${who} get shortcuts that SHORTCUT_SIGN_COMMAND signs; it was not run.`);
    case 'links':
      return ok(name, `${who} get the shortcuts by ${Object.values(settingsOf[form]).join(' and ')}.`);
    case 'files':
      return ok(name, `${who} get the signed files of DATA_DIR.`);
  }
}

function warnUnpublished(form: FileForm, fileProblems: readonly string[]): Check {
  const sentence = `The shortcuts for ${formNames[form]} are not published: a technician builds them by hand, for an hour.`;
  return warning(
    'shortcuts',
    [sentence, ...fileProblems].join(' '),
    `Set ${Object.values(settingsOf[form]).join(' and ')}, or SHORTCUT_SIGN_COMMAND (docs/iphone.md).`,
  );
}

/** Sentences about files in DATA_DIR that are there and can't be used, such as unsigned ones. */
async function findFileProblems({ dataDir }: Config, form: FileForm): Promise<string[]> {
  const paths = shortcuts.map((shortcut) => join(shortcutFolder(dataDir, form), shortcutFileName(shortcut)));
  const found = await Promise.allSettled(paths.map(readSignedFile));
  return found.flatMap((one) => (one.status === 'rejected' ? [String(one.reason?.message)] : []));
}

async function* checkLink(
  setting: string,
  link: string,
  {
    shortcut,
    form,
    authorities,
  }: { readonly shortcut: Shortcut; readonly form: FileForm; readonly authorities: Authorities },
): AsyncGenerator<Check> {
  const name = 'shortcut_link';
  const fix = `Publish ${shortcut.name} for ${formNames[form]} again, and set ${setting} to its link (docs/iphone.md).`;
  const shared = await readSharedShortcut(link, authorities);
  if ('reason' in shared) {
    yield shared.isGone
      ? failed(name, `${setting} leads to no shortcut: ${shared.reason}.`, fix)
      : warning(
          name,
          `${setting} could not be checked: ${shared.reason}.`,
          'Run this again later, and open the link on an iPhone.',
        );
    return;
  }
  if (shared.name !== shortcut.name) {
    yield failed(name, `${setting} leads to “${shared.name}” instead of ${shortcut.name}.`, fix);
    return;
  }
  const expected = buildWorkflow(shortcut, undefined, form);
  const differences = findDifferences(shared.workflow, expected);
  for (const { state, text } of differences)
    yield { name, state, message: `${shortcut.name} of ${setting} ${text}.`, fix };
  if (differences.length > 0) return;
  const inside = form === 27 ? ', with its automations, which arrive switched off' : '';
  yield ok(name, `${setting} leads to ${shortcut.name} of this release${inside}.`);
}
