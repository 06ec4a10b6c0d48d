import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import pg from 'pg';
import { connectionsMax } from '#server/database/database.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { claim } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { firstKey, spawnService } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given, givenFolder } from '#test/support/service/given.ts';

describe('a PostgreSQL of one’s own (docs/operations.md, "Moving to your own PostgreSQL")', () => {
  const dataDir = givenFolder('ownline-own-postgresql-');
  const folder = givenFolder('ownline-own-');
  const host = join(dataDir, 'socket');
  const databaseUrl = `postgresql://tenant@/of_others?host=${encodeURIComponent(host)}`;
  given(
    () => startEngine({ dataDir, logger: createLogger('warn'), parameters: { fsync: 'off' } }),
    (engine) => engine.stop(),
  );

  before(async () => {
    await writeFile(join(dataDir, 'pg', 'pg_hba.conf'), 'local all all trust\n');
    const asSuperuser = async (database: string, ...statements: string[]) => {
      const client = new pg.Client({ host, user: 'postgres', database });
      await client.connect();
      for (const statement of statements) await client.query(statement);
      await client.end();
    };
    await asSuperuser(
      'postgres',
      'SELECT pg_reload_conf()',
      'CREATE ROLE tenant LOGIN',
      'CREATE DATABASE of_others',
      'REVOKE ALL ON DATABASE of_others FROM PUBLIC',
      'GRANT CONNECT ON DATABASE of_others TO tenant',
    );
    await asSuperuser('of_others', 'GRANT USAGE, CREATE ON SCHEMA public TO tenant');
  });

  it('a role that may only create tables in the schema public is enough for messages and backups', async () => {
    const settings = { DATABASE_URL: databaseUrl, DATA_DIR: join(folder, 'data') };
    const service = await spawnService({ settings });
    try {
      const api = new ApiClient(service.baseUrl, await firstKey(settings.DATA_DIR));
      const { json } = await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
      const phone = await claim(api, String(json.setup_url));
      await phone.poll();
      const message = { from: '+14155550100', to: '+14155550101', content: 'Hello' };
      assert.equal((await api.post('/v1/messages/send', message)).status, 202);
      const backup = await new CommandLine(settings.DATA_DIR, settings).json(
        'backup',
        join(folder, 'a.backup'),
      );
      assert.ok(backup.rows > 5);
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      const { rows } = await client.query<{ count: number }>(
        "SELECT count(*)::int FROM pg_stat_activity WHERE usename = 'tenant' AND application_name LIKE 'ownline%'",
      );
      await client.end();
      const [{ count } = { count: 0 }] = rows;
      assert.ok(count > 2 && count <= connectionsMax, `${count} connections`);
    } finally {
      await service.kill('SIGTERM');
    }
  });
});
