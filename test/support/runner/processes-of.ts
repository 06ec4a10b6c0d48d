import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Finds the processes of a data folder: the service by its environment, PostgreSQL by its arguments or working
 * folder. Linux only.
 * @returns a line for each, such as `1234 postgres -D …`
 */
export function processesOf(dataDir: string): string[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const read = (what: () => string) => {
      try {
        return what();
      } catch {
        return '';
      }
    };
    const words = read(() => readFileSync(`/proc/${name}/cmdline`, 'utf8'));
    if (words === '') return [];
    const environment = read(() => readFileSync(`/proc/${name}/environ`, 'utf8'));
    const folder = read(() => readlinkSync(`/proc/${name}/cwd`));
    const isOf =
      words.includes(dataDir) || folder.startsWith(dataDir) || environment.includes(`\0DATA_DIR=${dataDir}`);
    return isOf ? [`${name} ${words.replaceAll('\0', ' ').trim()}`] : [];
  });
}
