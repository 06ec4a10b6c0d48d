import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { allStoredRowTexts } from '#test/support/database/stored-text.ts';
import { newMember } from '#test/support/people/people.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { newWebhook, uuidOf } from '#test/support/webhooks/make-webhooks.ts';
import { sealedSecretsOf } from '#test/support/webhooks/stored-webhooks.ts';

describe('secrets of webhooks (specification section 6.4)', () => {
  let id: string;
  const { service, team } = givenTeamBesideCanary({ ROLES: 'api,maintain' });
  const secrets: string[] = [];

  before(async () => {
    const webhook = await newWebhook(team.api);
    id = webhook.id;
    const next = await team.api.post(`/v1/webhooks/${id}/rotate-secret`);
    secrets.push(webhook.secret, String(next.json.secret));
  });

  /** Every spelling in which a table or an answer could contain a secret. */
  const spellings = () =>
    secrets.flatMap((secret) => {
      const random = Buffer.from(secret.slice('whsec_'.length), 'base64');
      return [secret.slice('whsec_'.length), Buffer.from(secret).toString('hex'), random.toString('hex')];
    });

  it('no row of any table contains a webhook’s secret, as text or as bytes (§6.4/replay-and-rotation)', async () => {
    const tables = await allStoredRowTexts(service);
    assert.ok(tables.size > 30);
    let rows = 0;
    for (const [name, texts] of tables) {
      rows += texts.length;
      for (const text of texts) {
        for (const spelling of spellings()) assert.ok(!text.includes(spelling), `${name}: ${text}`);
      }
    }
    assert.ok(rows > 20, 'there was something to look through');
  });

  it('a secret is sealed for its webhook and can’t be opened for another webhook', async () => {
    const { secret, next_secret: next } = await sealedSecretsOf(service, { id: uuidOf('wh', id) });
    assert.ok(next && secret.length > 60 && !secret.equals(next));
  });

  it('a secret is in no answer but the one to the request that made it (§6.4/replay-and-rotation)', async () => {
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
