import { open, readFile, rename } from 'node:fs/promises';

/** Keeps the id of the last event that was handled, so that a reader continues after it. */
export interface Cursor {
  readonly load: () => Promise<string | undefined>;
  readonly save: (eventId: string) => Promise<void>;
}

/** A cursor in a file. A crash leaves the old or the new id, and never a part of one. */
export function fileCursor(path: string): Cursor {
  return {
    load: async () => {
      try {
        return (await readFile(path, 'utf8')).trim();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    save: async (eventId) => {
      const file = await open(`${path}.new`, 'w');
      try {
        await file.writeFile(`${eventId}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
    },
  };
}
