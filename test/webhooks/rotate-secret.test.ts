import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { signingSecrets } from '#server/webhooks/endpoints/webhook-secret.ts';
import { allStoredRowTexts } from '#test/support/database/stored-text.ts';
import { newMember } from '#test/support/people/people.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { newWebhook, uuidOf } from '#test/support/webhooks/make-webhooks.ts';
import { sealedSecretsOf } from '#test/support/webhooks/stored-webhooks.ts';

const hourMs = 3_600_000;

describe('rotation of a webhook’s secret (specification section 6.4)', () => {
  const { service, team } = givenTeamBesideCanary({ ROLES: 'api,maintain' });
  const webhook = givenEach(() => newWebhook(team.api));

  const rotate = () => team.api.post(`/v1/webhooks/${webhook.id}/rotate-secret`);
  const finish = () => team.api.post(`/v1/webhooks/${webhook.id}/rotate-secret/finish`);
  /** The secrets that sign a delivery at this moment. */
  const signing = async () => {
    const id = uuidOf('wh', webhook.id);
    const sealed = await sealedSecretsOf(service, { id });
    return signingSecrets(service.runtime.secrets, id, sealed, service.clock.now());
  };

  it('a rotation shows the next secret once, and from then on both secrets sign (§6.4/replay-and-rotation)', async () => {
    const { status, json } = await rotate();
    assert.equal(status, 200);
    assert.equal(json.id, webhook.id);
    assert.match(String(json.secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Date.parse(String(json.takes_over_at)) > service.clock.nowMs() + 24 * hourMs - 60_000, true);
    assert.deepEqual(await signing(), { current: webhook.secret, next: json.secret });
  });

  it('finishing a rotation makes the next secret current at once, and answers with the webhook (§6.4/replay-and-rotation)', async () => {
    const { json } = await rotate();
    const finished = await finish();
    assert.deepEqual(
      [finished.status, finished.json],
      [200, (await team.api.get(`/v1/webhooks/${webhook.id}`)).json],
    );
    assert.deepEqual(await signing(), { current: json.secret, next: undefined });
  });

  it('the webhook and the list show when the next secret becomes current, only during the rotation', async () => {
    const shown = async () => {
      const one = (await team.api.get(`/v1/webhooks/${webhook.id}`)).json;
      const all = (await team.api.get('/v1/webhooks')).json.webhooks as Record<string, unknown>[];
      assert.deepEqual(
        all.find(({ id }) => id === webhook.id),
        one,
      );
      return one.next_secret_takes_over_at;
    };
    assert.equal(await shown(), null);
    const first = (await rotate()).json.takes_over_at;
    assert.equal(await shown(), first);
    const changed = await team.api.put(`/v1/webhooks/${webhook.id}`, { active: false });
    assert.equal(changed.json.next_secret_takes_over_at, first);
    assert.equal((await finish()).json.next_secret_takes_over_at, null);
    assert.equal(await shown(), null);
    const second = (await rotate()).json.takes_over_at;
    service.clock.advance(24 * hourMs - 60_000);
    assert.equal(await shown(), second);
    service.clock.advance(60_001);
    assert.equal(await shown(), null);
  });

  it('beginning a rotation during another, and finishing without one, is 409 and changes nothing (§6.4/replay-and-rotation)', async () => {
    assert.equal((await finish()).status, 409);
    await rotate();
    const before = await signing();
    const again = await rotate();
    assert.deepEqual([again.status, field(again.json, 'error.code')], [409, 'conflict']);
    assert.deepEqual(await signing(), before);
    assert.equal((await finish()).status, 200);
    assert.equal((await finish()).status, 409);
  });

  it('only one of several simultaneous rotations succeeds, and only one of several finishes', async () => {
    const statuses = async (ask: typeof rotate) =>
      (await Promise.all([1, 2, 3, 4, 5].map(ask))).map(({ status }) => status).toSorted();
    assert.deepEqual(await statuses(rotate), [200, 409, 409, 409, 409]);
    assert.deepEqual(await statuses(finish), [200, 409, 409, 409, 409]);
  });

  it('a rotation ends by itself after 24 hours, and then another rotation can begin (§6.4/replay-and-rotation)', async () => {
    const second = String((await rotate()).json.secret);
    service.clock.advance(24 * hourMs - 60_000);
    assert.equal((await rotate()).status, 409);
    service.clock.advance(60_001);
    assert.deepEqual(await signing(), { current: second, next: undefined });
    assert.equal((await finish()).status, 409);
    const third = await rotate();
    assert.equal(third.status, 200, third.text);
    assert.deepEqual(await signing(), { current: second, next: third.json.secret });
    await finish();
    assert.deepEqual(await signing(), { current: third.json.secret, next: undefined });
  });
});

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

  it('secrets are in no row of any table, neither as text nor as bytes (§6.4/replay-and-rotation)', async () => {
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

  it('a secret is in no answer but the one that made it (§6.4/replay-and-rotation)', async () => {
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
