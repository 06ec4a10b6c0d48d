import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FileForm } from '#contract/setup.ts';
import type { Connection } from './connection.ts';
import { writeBinaryPropertyList } from './property-list/write-binary.ts';
import { writeXmlPropertyList } from './property-list/write-xml.ts';
import { buildWorkflow, shortcuts } from './shortcuts.ts';

export interface ExportedShortcut {
  readonly name: string;
  readonly path: string;
}

/**
 * Writes unsigned files of both shortcuts and replaces older ones (docs/device-protocol.md section 11.11). A file with a
 * connection contains the device token, so only its owner may read it (mode 0600).
 */
export async function exportShortcuts(
  folder: string,
  format: 'binary' | 'xml',
  form: FileForm,
  connection?: Connection,
): Promise<readonly ExportedShortcut[]> {
  await mkdir(folder, { recursive: true });
  const mode = connection ? 0o600 : 0o644;
  return Promise.all(
    shortcuts.map(async (shortcut) => {
      const path = resolve(join(folder, `${shortcut.name}.shortcut`));
      const workflow = buildWorkflow(shortcut, connection, form);
      const content = format === 'xml' ? writeXmlPropertyList(workflow) : writeBinaryPropertyList(workflow);
      // An older file is removed first, because overwriting would keep its mode.
      await rm(path, { force: true });
      await writeFile(path, content, { mode, flag: 'wx' });
      await chmod(path, mode);
      return { name: shortcut.name, path };
    }),
  );
}
