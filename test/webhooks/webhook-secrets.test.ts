import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newMember } from '#test/support/people/people.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';

describe('secrets of webhooks (specification sections 2.7 and 6.4)', () => {
  let service: TestService;
  let team: TestTeam;
  let id: string;
  const secrets: string[] = [];

  before(async () => {
    service = await startTestService({ ROLES: 'api,maintain' });
    await plantCanary(service);
    team = await service.newTeam();
    const webhook = await newWebhook(team.api);
    id = webhook.id;
    const next = await team.api.post(`/v1/webhooks/${id}/rotate-secret`);
    secrets.push(webhook.secret, String(next.json.secret));
  });
  after(() => service.close());

  /** Each spelling in which a table or an answer could hold one of them. */
  const spellings = () =>
    secrets.flatMap((secret) => {
      const random = Buffer.from(secret.slice('whsec_'.length), 'base64');
      return [secret.slice('whsec_'.length), Buffer.from(secret).toString('hex'), random.toString('hex')];
    });

  it('are in no row of any table, neither as text nor as bytes (§2.7/secret, §6.4/replay-and-rotation)', async () => {
    const tables = await service.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT LIKE 'pg\\_%'
         AND schemaname <> 'information_schema'`,
    );
    assert.ok(tables.length > 30);
    let rows = 0;
    for (const { name } of tables) {
      const found = await service.query<{ text: string }>(`SELECT t::text AS text FROM ${name} AS t`);
      rows += found.length;
      for (const { text } of found) {
        for (const spelling of spellings()) assert.ok(!text.includes(spelling), `${name}: ${text}`);
      }
    }
    assert.ok(rows > 20, 'there was something to look through');
  });

  it('are sealed for their webhook: in the place of another one’s they open nothing', async () => {
    const [row] = await service.query<{ sealed: boolean }>(
      'SELECT octet_length(secret) > 60 AND secret <> next_secret AS sealed FROM webhooks WHERE next_secret IS NOT NULL',
    );
    assert.equal(row?.sealed, true);
  });

  it('are in no answer but the one that made them (§2.7/secret, §6.4/replay-and-rotation)', async () => {
    const owner = await newMember(service, team, 'owner');
    const test = await team.api.post(`/v1/webhooks/${id}/test`);
    const paths = ['', `/${id}`, `/${id}/deliveries`, `/${id}/deliveries/${test.json.id}`];
    const answers = await Promise.all([
      ...paths.map((path) => team.api.get(`/v1/webhooks${path}`)),
      ...paths.map((path) => owner.get(owner.in(`/webhooks${path}`))),
      team.api.put(`/v1/webhooks/${id}`, { active: false }),
      owner.get(owner.in('/audit?limit=100')),
    ]);
    answers.push(
      await team.api.post(`/v1/webhooks/${id}/rotate-secret`),
      await team.api.post(`/v1/webhooks/${id}/rotate-secret/finish`),
      await team.api.delete(`/v1/webhooks/${id}`),
    );
    for (const { text, status } of [...answers, test]) {
      assert.ok(status < 300 || status === 409, text);
      assert.ok(!text.includes('whsec_'), text);
      for (const spelling of spellings()) assert.ok(!text.includes(spelling), text);
    }
  });
});
