import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKey } from '#server/api-keys/create-key.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { operator } from '#server/platform/actor.ts';
import { createTeam } from '#server/teams/create-team.ts';

const begin = statement<{ only_row: boolean }>(
  'instance.begin',
  'UPDATE instance SET first_started_at = $1 WHERE first_started_at IS NULL RETURNING only_row',
);

/**
 * On an empty database: makes one team and a first API key with every permission (specification section 10.1). On a
 * terminal the key is printed once; otherwise it is written to DATA_DIR/first-start.txt (0600) and the path is
 * printed. The file is written before the commit, so that a kill in between leaves no key that nobody was shown.
 */
export async function firstStart(services: Runtime, terminal: NodeJS.WriteStream): Promise<void> {
  const { database, clock, config } = services;
  const file = join(config.dataDir, 'first-start.txt');
  const shown = await database.transaction(async (trx) => {
    if (!(await begin.row(trx, clock.now()))) return undefined;
    const team = await createTeam(trx, services, { name: 'My team', plan: config.defaultPlan });
    const { key } = await createKey(trx, services, {
      teamId: team.id,
      name: 'First key',
      permissions: ['*'],
      by: operator,
    });
    const text = `Your first API key, for everything in the team "${team.name}":\n\n  ${key}\n\nIt is shown only here. Send it in the header x-api-key.\n`;
    if (terminal.isTTY) return text;
    await rm(file, { force: true });
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
    await chmod(file, 0o600);
    return `Your first API key is in ${file}\n`;
  });
  if (shown !== undefined) terminal.write(`\n${shown}\n`);
}
