import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKey } from '#server/api-keys/api-keys.ts';
import { createDataDir } from '#server/database/data-dir.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { serverItself } from '#server/platform/actor.ts';
import { errorCodeOf, messageOf } from '#server/platform/error-code.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { ConfigError } from '#server/platform/start-error.ts';
import { createOwnerLink } from '#server/teams/invitations/owner-link.ts';
import { anyTeamExists, createTeam, lockTeams } from '#server/teams/team/team.ts';

/**
 * On an empty database, creates a team, an API key with every permission, and an owner link. A terminal shows the key
 * and the link once. Otherwise they are written to DATA_DIR/first-start.txt (0600), and the path is printed. The file
 * is written before the commit, so that a kill cannot leave a team whose key was never shown.
 * @throws ConfigError if the file can't be written; nothing is created then
 */
export async function firstRun(services: Runtime, terminal: NodeJS.WriteStream): Promise<void> {
  const { database, config } = services;
  if (await anyTeamExists(database.pool)) return;
  const shown = await database.transaction(async (trx) => {
    // The lock makes every other process wait, so that only one creates the first team.
    await lockTeams(trx);
    if (await anyTeamExists(trx)) return undefined;
    const team = await createTeam(trx, services, {
      name: 'My team',
      plan: config.defaultPlan,
      by: serverItself,
    });
    const { key } = await createKey(trx, services, {
      teamId: team.id,
      name: 'First key',
      permissions: ['*'],
      by: serverItself,
    });
    const { url } = await createOwnerLink(trx, services, team, undefined, serverItself);
    const text = `Your first API key, for everything in the team "${team.name}":

  ${key}

It is shown only here. Send it in the header x-api-key.

The link that makes you the owner of the team, for the dashboard:

  ${url}

It works once, for 7 days. For another one: ${commandLine} link --email you@example.com

Fill a team with demo data, beside yours: ${commandLine} demo
`;
    if (terminal.isTTY) return text;
    return `Your first API key and your link to the dashboard are in ${await writeForOwner(config.dataDir, text)}\n`;
  });
  if (shown !== undefined) terminal.write(`\n${shown}\n`);
}

async function writeForOwner(dataDir: string, text: string): Promise<string> {
  const file = join(dataDir, 'first-start.txt');
  try {
    await createDataDir(dataDir);
    await rm(file, { force: true });
    await writeFile(file, text, { mode: 0o600, flag: 'wx', flush: true });
    await chmod(file, 0o600);
    return file;
  } catch (error) {
    const reason = errorCodeOf(error) ?? messageOf(error);
    throw new ConfigError([
      `The first API key could not be written to ${file} (${reason}). Choose a DATA_DIR that the user who runs Ownline ` +
        'may write to, or start once on a terminal, which shows the key instead.',
    ]);
  }
}
