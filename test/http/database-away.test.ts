import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

describe('while the database is away (specification sections 4.3 and 7.2)', () => {
  let service: TestService;
  let team: TestTeam;
  let number: ConnectedNumber;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
    number = await connectNumber(service, team, '+14155550100');
  });
  after(() => service.close());

  const send = (content: string, key: string) =>
    team.api.post(
      '/v1/messages/send',
      { from: number.phoneNumber, to: '+14155550101', content },
      { 'idempotency-key': key },
    );

  function assertUnavailable(answer: ApiAnswer): void {
    assert.equal(answer.status, 500, answer.text);
    assert.equal(field(answer.json, 'error.code'), 'internal_error');
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.match(answer.headers.get('request-id') ?? '', /^req_/);
  }

  it('a send whose commit is in doubt is answered 500 and says so; its key makes the repeat safe (§4.3/idempotency-key)', async (t) => {
    assert.equal((await send('before', 'first')).status, 202);
    const gate = await service.runtime.database.pool.connect();
    t.after(() => gate.release(true));
    await gate.query('BEGIN');
    await gate.query('SELECT FROM usage_months WHERE team_id = $1 FOR UPDATE', [team.id]);
    const answer = send('in doubt', 'second');
    await until('the connection is cut while it accepts', async () => {
      const cut = await service.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND query LIKE 'WITH input%' AND datname = current_database()`,
      );
      return cut.length > 0;
    });
    await gate.query('COMMIT');
    const doubtful = await answer;
    assertUnavailable(doubtful);
    assert.match(
      String(field(doubtful.json, 'error.message')),
      /may have been accepted.*same Idempotency-Key/,
    );
    const repeat = await until('it is accepted', async () => {
      const again = await send('in doubt', 'second');
      return again.status === 202 && again;
    });
    const stored = await service.query('SELECT FROM messages WHERE content = $1', ['in doubt']);
    assert.equal(stored.length, 1, repeat.text);
  });

  it('answers 500 with retry-after, and serves again by itself once the database is back (§7.1/status-500, §7.2/unavailable)', async () => {
    const outside = new pg.Client({
      connectionString: service.databaseUrl.replace(/\/\w+\?/, '/postgres?'),
    });
    await outside.connect();
    const [named] = await service.query<{ name: string }>('SELECT current_database() AS name');
    const allow = (isAllowed: boolean) =>
      outside.query(`ALTER DATABASE ${named?.name} ALLOW_CONNECTIONS ${isAllowed}`);
    try {
      await allow(false);
      await outside.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
        named?.name,
      ]);
      assertUnavailable(await team.api.get('/v1/numbers'));
      assertUnavailable(await team.api.put('/v1/team', { name: 'Other' }));
      assertUnavailable(await send('nowhere to keep it', 'third'));
    } finally {
      await allow(true);
      await outside.end();
    }
    await until('it serves again', async () => (await team.api.get('/v1/numbers')).status === 200);
    await until('it accepts again', async () => (await send('kept', 'third')).status !== 500);
  });
});
