import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileForm } from '#contract/setup.ts';
import { shortcutFileMaxBytes } from './limits.ts';

/** The file name ending that iOS opens with Shortcuts. */
export const shortcutFileEnding = '.shortcut';

/** The folder in DATA_DIR for signed files (docs/configuration.md). Those for iOS 27 are in a folder `27` inside. */
export function shortcutFolder(dataDir: string, form: FileForm = 26): string {
  return join(dataDir, 'shortcuts', form === 26 ? '' : String(form));
}

/** The first bytes of a signed shortcut, an Apple Encrypted Archive; an iPhone refuses any other file. */
const signature = Buffer.from('AEA1');

/**
 * Reads a signed shortcut.
 * @returns undefined if there is no file
 * @throws Error with a sentence if the file can't be read or is no signed shortcut
 */
export async function readSignedFile(path: string): Promise<Buffer<ArrayBuffer> | undefined> {
  let size: number;
  try {
    ({ size } = await stat(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if (size > shortcutFileMaxBytes)
    throw new Error(`${path} has ${size} bytes, which is too large for a shortcut.`);
  const bytes = await readFile(path);
  if (!bytes.subarray(0, signature.length).equals(signature))
    throw new Error(
      `${path} is not signed: a signed shortcut begins with AEA1. Sign it with \`shortcuts sign\` on a Mac.`,
    );
  return bytes;
}
