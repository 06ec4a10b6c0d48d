import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../ownline.ts';

export const postgresPrograms = '/usr/lib/postgresql/15/bin';

const programs = {
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  'postgresql-15': `${postgresPrograms}/postgres`,
};

/** @throws Error with the command that installs what is missing */
export function requirePackages(): void {
  const missing = Object.entries(programs).flatMap(([name, path]) => (existsSync(path) ? [] : name));
  if (missing.length === 0) return;
  throw new Error(
    `This campaign runs Debian's packages, and ${missing.join(', ')} is missing. Install them with
  apt-get install -y --no-install-recommends ${Object.keys(programs).join(' ')}
and stop the services that Debian starts.`,
  );
}

/** The user that runs PostgreSQL, which refuses root; undefined for the one of this process. */
export function databaseUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (of: string) => Number(execFileSync('id', [of, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Reads a file of deploy/ha and puts other words in the place of some. @param places what replaces each word
 * @throws Error if a word is not in the file, so that the campaign runs what is deployed
 */
export function readDeployed(name: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce(
    (text, [word, place]) => {
      if (!text.includes(word)) throw new Error(`deploy/ha/${name} has no "${word}".`);
      return text.replaceAll(word, place);
    },
    readFileSync(join(repository, 'deploy/ha', name), 'utf8'),
  );
}
