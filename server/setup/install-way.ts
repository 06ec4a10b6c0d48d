import { join } from 'node:path';
import type { FileForm, InstallWay } from '#contract/setup.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Connection } from '#shortcut/connection.ts';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { buildWorkflow, type Shortcut, shortcuts } from '#shortcut/shortcuts.ts';
import {
  readSignedFile,
  type ShortcutSigner,
  shortcutFileEnding,
  shortcutFolder,
  type UnsignedShortcut,
} from './shortcut-signer.ts';

export type InstallServices = Pick<Runtime, 'config' | 'logger'> & {
  /** Signs the shortcuts; undefined without SHORTCUT_SIGN_COMMAND. */
  readonly signer: ShortcutSigner | undefined;
};

/**
 * Chooses the available way with the fewest steps for the form of a phone's iOS. The next best way is used for some
 * minutes after the signing command failed, and while too many files wait for it.
 * @param connection undefined until the device token was shown or claimed
 */
export async function chooseInstallWay(
  services: InstallServices,
  connection: Connection | undefined,
  form: FileForm,
): Promise<InstallWay> {
  const { signer } = services;
  if (!signer) return chooseGenericWay(services, form);
  if (!connection) return { kind: 'signed', ready: false };
  const files = unsigned(connection, form);
  const found = await Promise.all(files.map((file) => signer.find(file)));
  // The files are signed in their order, so the first one that is missing decides.
  const next = files.find((_, index) => !found[index]);
  if (next && !signer.accepts(next)) return chooseGenericWay(services, form);
  return { kind: 'signed', ready: !next };
}

/** The way that a phone without a token would get, for each form; `by_hand` says that nothing is published for it. */
export async function publishedForms(
  services: InstallServices,
): Promise<Readonly<Record<FileForm, InstallWay['kind']>>> {
  const kindFor = async (form: FileForm) => (await chooseInstallWay(services, undefined, form)).kind;
  return { 26: await kindFor(26), 27: await kindFor(27) };
}

/** The best way that needs no signed files with this phone's token. */
async function chooseGenericWay(services: InstallServices, form: FileForm): Promise<InstallWay> {
  const links = services.config.shortcutLinks[form];
  if (links) return { kind: 'links', ...links };
  if (await readFolder(services, form)) return { kind: 'files' };
  return { kind: 'by_hand', failed: services.signer !== undefined };
}

/**
 * Makes the files of the way `signed` after a click on their button; nothing else runs the signing command.
 * @returns the best way now: another way than `signed` if the signing command failed or too many files wait
 */
export async function prepareInstallWay(
  services: InstallServices,
  connection: Connection,
  form: FileForm,
): Promise<InstallWay> {
  const way = await chooseInstallWay(services, connection, form);
  if (way.kind !== 'signed' || way.ready || !services.signer) return way;
  for (const shortcut of unsigned(connection, form)) {
    if (!(await services.signer.sign(shortcut))) return chooseGenericWay(services, form);
  }
  return { kind: 'signed', ready: true };
}

/** The file that a phone installs; undefined if the way has no file or the file is not ready. */
export async function readShortcutFile(
  services: InstallServices,
  shortcut: Shortcut,
  connection: Connection | undefined,
  form: FileForm,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const way = await chooseInstallWay(services, connection, form);
  if (way.kind === 'files') return (await readFolder(services, form))?.get(shortcut.name);
  if (way.kind !== 'signed' || !connection) return undefined;
  return services.signer?.find(unsignedShortcut(shortcut, connection, form));
}

export function shortcutFileName(shortcut: Shortcut): string {
  return `${shortcut.name}${shortcutFileEnding}`;
}

function unsignedShortcut(shortcut: Shortcut, connection: Connection, form: FileForm): UnsignedShortcut {
  const workflow = buildWorkflow(shortcut, connection, form);
  return { name: shortcut.name, propertyList: writeBinaryPropertyList(workflow) };
}

const unsigned = (connection: Connection, form: FileForm) =>
  shortcuts.map((shortcut) => unsignedShortcut(shortcut, connection, form));

/** The operator's signed files by name; undefined unless both shortcuts exist and are signed. */
async function readFolder(
  { config, logger }: InstallServices,
  form: FileForm,
): Promise<ReadonlyMap<string, Buffer<ArrayBuffer>> | undefined> {
  const files = new Map<string, Buffer<ArrayBuffer>>();
  for (const shortcut of shortcuts) {
    const path = join(shortcutFolder(config.dataDir, form), shortcutFileName(shortcut));
    try {
      const bytes = await readSignedFile(path);
      if (bytes) files.set(shortcut.name, bytes);
    } catch (error) {
      logger.warn(error instanceof Error ? error.message : String(error));
    }
  }
  return files.size === shortcuts.length ? files : undefined;
}
