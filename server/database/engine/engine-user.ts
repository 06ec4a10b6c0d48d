import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Logger } from '#server/platform/process/logger.ts';
import { EngineError } from './engine-error.ts';

const run = promisify(execFile);

/** The user that PostgreSQL runs as. It is never root, because PostgreSQL refuses to run as root. */
export interface EngineUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Spawn options that run a child process as this user; empty if this process already runs as the user. */
  readonly spawnAs: { readonly uid?: number; readonly gid?: number };
}

/**
 * Chooses the user that PostgreSQL runs as. This is the user of this process, unless that is root: PostgreSQL refuses to
 * run as root. A process of root chooses the first existing user of this list:
 * - the owner of the database, except root and `nobody`,
 * - `ownline`,
 * - `postgres`,
 * - `nobody`.
 */
export async function chooseEngineUser(
  { dataDir, pgFolder }: { readonly dataDir: string; readonly pgFolder: string },
  logger: Logger,
): Promise<EngineUser> {
  const owner = await stat(pgFolder).catch(() => undefined);
  const ownUid = process.getuid?.() ?? -1;
  const ownGid = process.getgid?.() ?? -1;
  if (ownUid !== 0) {
    if (owner !== undefined && owner.uid !== ownUid) {
      throw new EngineError(
        `The database in DATA_DIR ${dataDir} belongs to the user ${await userName(owner.uid)}. ` +
          'Start Ownline as that user or as root, or choose another DATA_DIR.',
      );
    }
    return { name: await userName(ownUid), uid: ownUid, gid: ownGid, spawnAs: {} };
  }
  const nobody = await findUser('nobody');
  if (owner !== undefined && owner.uid !== 0 && owner.uid !== nobody?.uid) {
    return rootsUser(await userName(owner.uid), owner.uid, owner.gid);
  }
  const preferred = (await findUser('ownline')) ?? (await findUser('postgres'));
  if (preferred !== undefined) return preferred;
  if (nobody === undefined) {
    throw new EngineError(
      'PostgreSQL does not run as root and there is no user for it. Make one: useradd --system ownline',
    );
  }
  logger.warn(
    'PostgreSQL runs as the user nobody, as other services may, which could then read its data. ' +
      'Give it a user of its own and restart: useradd --system ownline',
  );
  return nobody;
}

async function findUser(name: string): Promise<EngineUser | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return rootsUser(name, Number(uid.stdout), Number(gid.stdout));
  } catch {
    return undefined;
  }
}

function rootsUser(name: string, uid: number, gid: number): EngineUser {
  return { name, uid, gid, spawnAs: { uid, gid } };
}

/** The name of a user; for a uid without a name, as in containers, the number. */
async function userName(uid: number): Promise<string> {
  return run('id', ['-nu', String(uid)]).then(
    ({ stdout }) => stdout.trim(),
    () => String(uid),
  );
}
