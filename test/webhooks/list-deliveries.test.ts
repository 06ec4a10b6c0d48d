import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventTypes } from '#contract/event.ts';
import { deliveryStatuses } from '#contract/webhook.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { newAttempt, newDelivery, newWebhook, nowhere } from '#test/support/webhooks/make-webhooks.ts';

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly event_type: string;
}

describe('GET /v1/webhooks/:id/deliveries (specification section 4.4)', () => {
  let id: string;
  const { service, team } = givenTeamBesideCanary({ ROLES: 'api,maintain' });
  /** The inserted deliveries, newest first. */
  const made: Shown[] = [];

  before(async () => {
    ({ id } = await newWebhook(team.api));
    const { id: otherId } = await newWebhook(team.api);
    for (let n = 0; n < 48; n += 1) {
      const status = deliveryStatuses[n % 4] ?? 'failed';
      const eventType = eventTypes[Math.floor(n / 4) % eventTypes.length] ?? 'message.sent';
      // The deliveries are spread over months, so that the pages cross months.
      const ageMs = (48 - n) * 36 * 3_600_000;
      const deliveryId = await newDelivery(service, team, id, { status, eventType, ageMs });
      made.unshift({ id: deliveryId, status, event_type: eventType });
      await newDelivery(service, team, otherId, { status, eventType, ageMs });
    }
  });

  const list = (query = '') => team.api.get(`/v1/webhooks/${id}/deliveries${query}`);

  it('the list has exactly the deliveries of every combination of filters, newest first, in pages of any size', async () => {
    for (const status of [undefined, ...deliveryStatuses]) {
      for (const event_type of [undefined, ...eventTypes]) {
        const wanted = made.filter(
          (one) => (status ?? one.status) === one.status && (event_type ?? one.event_type) === one.event_type,
        );
        for (const limit of [3, 100]) {
          const shown: Shown[] = [];
          for (let cursor = ''; ; ) {
            const filters = Object.entries({ status, event_type, limit: String(limit), cursor }).filter(
              (pair): pair is [string, string] => pair[1] !== undefined,
            );
            const { status: code, json, text } = await list(`?${new URLSearchParams(filters)}`);
            assert.equal(code, 200, text);
            const page = json.deliveries as Shown[];
            assert.ok(page.length <= limit);
            shown.push(...page);
            assert.equal(json.has_more, shown.length < wanted.length, `${status} ${event_type} ${limit}`);
            assert.equal(json.cursor, page.at(-1)?.id ?? '');
            if (!json.has_more) break;
            cursor = String(json.cursor);
          }
          assertEach(
            shown,
            (one) => ({ id: one.id, status: one.status, event_type: one.event_type }),
            wanted,
          );
        }
      }
    }
  });

  it('an invalid filter is refused with its parameter', async () => {
    const wrong = [
      'status=done',
      'event_type=message.read',
      'limit=0',
      'limit=101',
      'cursor=x',
      'cursor=msg_1',
      'from=a',
    ];
    for (const query of wrong) {
      const answer = await list(`?${query}`);
      assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, query.split('=')[0]]);
    }
  });
});

describe('GET /v1/webhooks/:id/deliveries/:delivery_id (specification section 4.4)', () => {
  let id: string;
  const { service, team } = givenTeamBesideCanary({ ROLES: 'api,maintain' });

  before(async () => {
    ({ id } = await newWebhook(team.api));
  });

  const get = (deliveryId: string, webhookId = id) =>
    team.api.get(`/v1/webhooks/${webhookId}/deliveries/${deliveryId}`);
  const attemptsOf = async (deliveryId: string) =>
    (await get(deliveryId)).json.attempts as Record<string, unknown>[];

  it('a single delivery has the fields of the list and its attempts, oldest first', async () => {
    const deliveryId = await newDelivery(service, team, id);
    const first = await newAttempt(service, team, deliveryId, { outcome: 'dns', statusCode: null });
    const second = await newAttempt(service, team, deliveryId, {
      outcome: 'http_5xx',
      statusCode: 503,
      body: Buffer.from('Not now.'),
      url: 'https://example.com/before',
    });
    const { json } = await get(deliveryId);
    const { attempts, ...delivery } = json;
    const page = await team.api.get(`/v1/webhooks/${id}/deliveries?limit=1`);
    assert.deepEqual([delivery], page.json.deliveries);
    assert.equal(delivery.attempt_count, 2);
    const [one, two] = attempts as Record<string, unknown>[];
    const { started_at, error_message, ...rest } = one ?? {};
    assert.match(String(started_at), /Z$/);
    assert.match(String(error_message), /No address was found/);
    assert.deepEqual(rest, {
      id: first,
      duration_ms: 12,
      outcome: 'dns',
      status_code: null,
      url: nowhere,
      response_body: null,
      response_truncated: false,
    });
    assert.deepEqual(
      [two?.id, two?.outcome, two?.status_code, two?.response_body, two?.url],
      [second, 'http_5xx', 503, 'Not now.', 'https://example.com/before'],
    );
  });

  it('a successful attempt has no error', async () => {
    const deliveryId = await newDelivery(service, team, id, { status: 'succeeded' });
    await newAttempt(service, team, deliveryId, {
      outcome: 'succeeded',
      statusCode: 200,
      body: Buffer.alloc(0),
    });
    const [attempt] = await attemptsOf(deliveryId);
    assert.deepEqual([attempt?.error_message, attempt?.response_body], [null, '']);
  });

  it('an attempt has up to 16 KB of the response as text, with U+FFFD for invalid UTF-8', async () => {
    const deliveryId = await newDelivery(service, team, id);
    const bytes = Buffer.concat([Buffer.from('aé\u0000'), Buffer.from([0xff, 0xc3])]);
    await newAttempt(service, team, deliveryId, { body: bytes });
    const long = Buffer.alloc(16_384, 'é').subarray(0, 16_383);
    await newAttempt(service, team, deliveryId, {
      body: Buffer.concat([long, Buffer.from('a')]),
      truncated: true,
    });
    const [odd, cut] = await attemptsOf(deliveryId);
    assert.partialDeepStrictEqual(odd, { response_body: 'aé\u0000\ufffd\ufffd', response_truncated: false });
    assert.equal(cut?.response_body, `${'é'.repeat(8_191)}\ufffda`);
    assert.equal(cut?.response_truncated, true);
  });

  it('a delivery shows its latest 50 attempts, and the count of all', async () => {
    const deliveryId = await newDelivery(service, team, id);
    const made: string[] = [];
    for (let n = 0; n < 53; n += 1) made.push(await newAttempt(service, team, deliveryId));
    assertEach(await attemptsOf(deliveryId), (attempt) => attempt.id, made.slice(3));
    assert.equal((await get(deliveryId)).json.attempt_count, 53);
  });

  it('a malformed delivery id and one of another webhook or team is 404', async () => {
    const deliveryId = await newDelivery(service, team, id);
    const other = await newWebhook(team.api);
    assert.equal((await get(deliveryId, other.id)).status, 404);
    assert.equal((await get('dlv_x')).status, 404);
    assert.equal((await get('dlv_01h2xcejqtf2nbrexx3vqjhp41')).status, 404);
    const stranger = await service.newTeam();
    assert.equal((await stranger.api.get(`/v1/webhooks/${id}/deliveries/${deliveryId}`)).status, 404);
  });
});
