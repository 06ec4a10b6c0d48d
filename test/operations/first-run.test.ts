import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import { fillDemo } from '#server/cli/demo/fill-demo.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { firstRun } from '#server/operations/first-run.ts';
import { operator } from '#server/platform/actor.ts';
import { type Config, readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { ConfigError } from '#server/platform/start-error.ts';
import { loadInvitation } from '#server/teams/acceptance/load-invitation.ts';
import { createSignInOrOwnerLink } from '#server/teams/invitations/owner-link.ts';
import { createTeam, findFirstTeam } from '#server/teams/team/team.ts';
import { connectToDatabase, type DatabaseConnection } from '#test/support/database/database-connection.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { deleteEmptyTeams, holdNewTeam } from '#test/support/teams/given-teams.ts';

describe('the first start on an empty database', () => {
  let database: TestDatabase;
  let parent: string;
  let config: Config;
  let runtime: Runtime;
  let connection: DatabaseConnection;

  beforeEach(async () => {
    database = await createTestDatabase();
    parent = await mkdtemp(join(tmpdir(), 'ownline-first-'));
    config = readConfig({
      DATABASE_URL: database.url,
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
      DATA_DIR: join(parent, 'not', 'yet'),
    });
    runtime = await openRuntime(config, database.url, createLogger('silent'));
    connection = await connectToDatabase(database.url);
  });
  afterEach(async () => {
    await connection.close();
    await runtime.database.close();
    await database.close();
    await rm(parent, { recursive: true, force: true });
  });

  const start = async (isTTY = false) => {
    const terminal = Object.assign(new PassThrough(), { isTTY });
    await firstRun(runtime, terminal as unknown as NodeJS.WriteStream);
    return String(terminal.read() ?? '');
  };
  const count = async (table: 'teams' | 'api_keys' | 'members') =>
    (await storedRowTexts(connection, table)).length;

  it('the first start writes the API key into a new DATA_DIR, which only its owner may read', async () => {
    const file = join(config.dataDir, 'first-start.txt');
    assert.ok((await start()).includes(file));
    assert.match(await readFile(file, 'utf8'), /own_live_\w{42}/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(config.dataDir)).mode & 0o066, 0, 'no other user lists or writes the folder');
    assert.deepEqual([await count('teams'), await count('api_keys')], [1, 1]);
  });

  it('a first start on a terminal prints the API key and owner link and writes no file, and later starts print neither', async () => {
    const printed = await start(true);
    assert.match(printed, /own_live_\w{42}/);
    assert.match(printed, /\/invite\/[\w-]{43}\n/);
    assert.deepEqual(await readdir(parent), []);
    assert.equal(await start(true), '');
  });

  it('ownline link on a server without teams is refused with the command that makes a team', async () => {
    const refused = createSignInOrOwnerLink(runtime, 'ada@example.com', undefined);
    await assert.rejects(
      refused,
      /has no account, and this server has no team yet\. .*: ownline team create/,
    );
  });

  it('the first start, and ownline link without --team, ignore a demo team', async () => {
    await fillDemo(runtime);
    await start();
    assert.equal(await count('teams'), 2);
    const { opens } = await createSignInOrOwnerLink(runtime, 'ada@example.com', undefined);
    assert.equal(opens, 'owner_invitation');
  });

  it('a link for a person of the demo only signs in, and the owner link of the first start stays valid', async () => {
    await start();
    const { email } = await fillDemo(runtime);
    const firstTeam = (await findFirstTeam(runtime.database.pool))?.id;
    const members = await count('members');
    for (const chosen of [undefined, firstTeam])
      assert.equal((await createSignInOrOwnerLink(runtime, email, chosen)).opens, 'sign_in');
    const stranger = createSignInOrOwnerLink(runtime, 'ada@demo.example.com', undefined);
    await assert.rejects(stranger, /ada@demo\.example\.com is an address of the demo, and has no account/);
    assert.equal(await count('members'), members);
    const shown = await readFile(join(config.dataDir, 'first-start.txt'), 'utf8');
    const token = /\/invite\/(\S+)/.exec(shown)?.[1] ?? '';
    assert.equal((await loadInvitation(runtime, token, undefined))?.invitation.role, 'owner');
  });

  it('the first start makes no team and no API key if the file for the key can’t be written, and the error names DATA_DIR', async () => {
    await writeFile(join(parent, 'not'), 'a file in the place of a folder');
    await assert.rejects(start(), (error: Error) => {
      assert.ok(error instanceof ConfigError, String(error.stack));
      assert.match(error.message, /first API key could not be written to .*DATA_DIR/);
      return true;
    });
    assert.deepEqual([await count('teams'), await count('api_keys')], [0, 0]);
    await rm(join(parent, 'not'));
    assert.notEqual(await start(), '', 'the next start begins');
  });

  it('a start after the command line made a team makes no API key', async () => {
    await runtime.database.transaction((trx) =>
      createTeam(trx, runtime, { name: 'Example team', plan: 'free', by: operator }),
    );
    assert.equal(await start(), '');
    assert.deepEqual([await count('teams'), await count('api_keys')], [1, 0]);
    assert.deepEqual(await readdir(parent), []);
  });

  it('only one of two simultaneous first starts makes a team', async () => {
    const team = await holdNewTeam(connection);
    const starting = start();
    await team.waiting(1);
    await team.release();
    assert.equal(await starting, '');
    assert.deepEqual([await count('teams'), await count('api_keys')], [1, 0]);

    await deleteEmptyTeams(connection);
    const said = await Promise.all([start(), start(), start()]);
    assert.equal(said.filter((text) => text !== '').length, 1);
    assert.deepEqual([await count('teams'), await count('api_keys')], [1, 1]);
    assert.equal(await start(), '');
  });
});
