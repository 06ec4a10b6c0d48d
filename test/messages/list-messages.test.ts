import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { directions, type MessageStatus, messageStatuses } from '#contract/message.ts';
import { type MessageId, type NumberId, publicId } from '#server/platform/ids.ts';
import { anyText } from '#test/support/generators/generated-texts.ts';
import { type Filters, fits, getPage, type Item, ids, walk } from '#test/support/http/walk-message-pages.ts';
import { putMessage } from '#test/support/messages/given-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const minuteMs = 60_000;
const never = 'msg_01h2xcejqtf2nbrexx3vqjhp41';

function combinations(from: readonly (string | undefined)[], to: readonly (string | undefined)[]): Filters[] {
  const combined: Filters[] = [];
  for (const sender of from) {
    for (const recipient of to) {
      for (const status of [undefined, ...messageStatuses]) {
        for (const direction of [undefined, ...directions]) {
          combined.push({ from: sender, to: recipient, status, direction });
        }
      }
    }
  }
  return combined;
}

describe('GET /v1/messages (specification section 4.3)', () => {
  let model: readonly Item[];
  // Long times, so that no message of the model expires or times out during the test.
  const service = givenService({ QUEUE_EXPIRY_HOURS: '8760', DEVICE_LEASE_SECONDS: '86400' });
  const canary = given(() => plantCanary(service));
  const team = given(() => service.newTeam());

  const own = ['+14155550100', '+14155550110', '+14155550120'];
  const deleted = '+14155550130';
  const contacts = ['+14155550101', '+442071838750', '+14155550103'];
  const handles = ['anna@example.com', '22000', 'Zoë & Søn + 😀 %2B'];

  before(async () => {
    const numberIds = new Map<string, NumberId>();
    for (const phone of [...own, deleted]) {
      const { numberId } = await connectNumber(service, team, phone);
      numberIds.set(phone, uuidOf('num', numberId));
      if (phone === deleted) await team.api.delete(`/v1/numbers/${numberId}`);
    }
    model = await fillModel(numberIds);
  });

  /** Inserts 400 messages of ten weeks, some in the same millisecond. */
  async function fillModel(numberIds: ReadonlyMap<string, NumberId>): Promise<Item[]> {
    const people = [...contacts, ...own];
    const drawn = fc.sample(
      fc.record({
        number: fc.constantFrom(...own, deleted),
        inbound: fc.boolean(),
        person: fc.constantFrom(...people),
        sender: fc.constantFrom(...people, ...handles),
        status: fc.constantFrom('queued', 'polling', 'sent', 'delivered', 'failed' as const),
        minutesAgo: fc.oneof(fc.constantFrom(1, 2), fc.integer({ min: 1, max: 70 * 24 * 60 })),
        content: anyText({ minLength: 1, maxLength: 20 }),
      }),
      { numRuns: 400, seed: 20_261_121 },
    );
    const now = service.clock.nowMs();
    const generator = new V7Generator();
    const busy = new Set<string>();
    const items: Item[] = [];
    drawn.sort((one, other) => other.minutesAgo - one.minutesAgo);
    for (const [index, message] of drawn.entries()) {
      const at = now - message.minutesAgo * minuteMs;
      const created = new Date(at).toISOString();
      const id = generator.generateOrResetWithTs(at).toString() as MessageId;
      const direction = message.inbound ? 'inbound' : 'outbound';
      let status: MessageStatus = message.inbound ? 'received' : message.status;
      // A number has one message in flight at most, and a deleted number has none waiting.
      if (status === 'polling' && busy.has(message.number)) status = 'sent';
      if ((status === 'polling' || status === 'queued') && message.number === deleted) status = 'sent';
      if (status === 'polling') busy.add(message.number);
      const item: Item = {
        id: publicId('msg', id),
        to: message.inbound ? message.number : message.person,
        from: message.inbound ? message.sender : message.number,
        content: `${index} ${message.content.replaceAll('\u0000', '')}`,
        media_url: null,
        status,
        direction,
        created_at: created,
        delivered_at: status === 'delivered' ? created : null,
      };
      items.push(item);
      const numberId = numberIds.get(message.number);
      assert.ok(numberId);
      await putMessage(service, {
        teamId: team.id,
        id,
        numberId,
        direction,
        from: item.from,
        to: item.to,
        content: item.content,
        status,
        createdAt: created,
        deliveredAt: item.delivered_at,
      });
    }
    return items.reverse();
  }

  /** Returns a generator of random page limits, which repeats its limits for the same seed. */
  function randomLimits(seed: number): (expected: number) => number {
    let state = seed;
    return (expected) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.min(100, Math.max(1 + (state % 100), Math.ceil(expected / 8)));
    };
  }

  it('the test data has messages of every status and direction, enough for several pages', () => {
    for (const status of messageStatuses) {
      const least = status === 'polling' ? own.length : 20;
      assert.ok(model.filter((item) => item.status === status).length >= least, status);
    }
    assert.equal(model.length, 400);
    assert.ok(new Set(model.map((item) => item.created_at)).size < 390);
  });

  it('every combination of filters lists exactly its messages, newest first, in pages of any size', async () => {
    const limitOf = randomLimits(7);
    const combined = combinations(
      [undefined, own[0], deleted, contacts[0], handles[0], handles[2], '+14155550999'],
      [undefined, own[0], contacts[0], '+14155550999'],
    );
    assert.equal(combined.length, 7 * 4 * 7 * 3);
    let shown = 0;
    for (const filters of combined) {
      const expected = model.filter((item) => fits(item, filters));
      const items = await walk([team.api], filters, () => limitOf(expected.length));
      assert.deepEqual(items, expected, JSON.stringify(filters));
      shown += items.length;
    }
    assert.ok(shown > 3_000, `${shown}`);
  });

  it('a cursor may be any message id: one of the list, one of another team, or an unknown one (§4.3/pages)', async () => {
    const limitOf = randomLimits(11);
    const smallest = 'msg_00000000000000000000000000';
    const largest = 'msg_7zzzzzzzzzzzzzzzzzzzzzzzzz';
    const between = model.filter((_, index) => index % 97 === 3).map((item) => item.id);
    const positions = [smallest, largest, never, canary.queuedId, canary.inboundId, ...between];
    const filters: Filters[] = [
      {},
      { from: own[0] },
      { to: own[0] },
      { from: own[1], to: contacts[0] },
      ...messageStatuses.map((status) => ({ status })),
    ];
    for (const cursor of positions) {
      for (const filter of filters) {
        const expected = model.filter((item) => item.id < cursor && fits(item, filter));
        const items = await walk([team.api], filter, () => limitOf(expected.length), cursor);
        assert.deepEqual(ids(items), ids(expected), `${cursor} ${JSON.stringify(filter)}`);
      }
    }
    assert.deepEqual(await getPage(team.api, { cursor: smallest }), {
      messages: [],
      cursor: '',
      has_more: false,
    });
    assert.deepEqual(ids((await getPage(team.api, { cursor: largest })).messages), ids(model.slice(0, 50)));
  });

  it('the status received belongs to inbound messages only, and other combinations of direction and status list nothing', async () => {
    for (const status of messageStatuses) {
      const other = status === 'received' ? 'outbound' : 'inbound';
      assert.deepEqual(await getPage(team.api, { status, direction: other }), {
        messages: [],
        cursor: '',
        has_more: false,
      });
    }
  });

  it('limit may be 1 to 100, and is 50 by default', async () => {
    const first = await getPage(team.api, {});
    assert.deepEqual(ids(first.messages), ids(model.slice(0, 50)));
    assert.deepEqual([first.cursor, first.has_more], [model[49]?.id, true]);
    for (const limit of [1, 2, 49, 99, 100]) {
      assert.equal((await getPage(team.api, { limit })).messages.length, limit);
    }
  });

  it('has_more is false on the last page only, whether that page is full or not (§4.3/pages)', async () => {
    for (const left of [1, 99, 100, 101]) {
      const cursor = model.at(-left - 1)?.id;
      const page = await getPage(team.api, { limit: 100, cursor });
      assert.deepEqual([page.messages.length, page.has_more], [Math.min(left, 100), left > 100]);
      assert.equal(page.cursor, page.messages.at(-1)?.id);
    }
  });

  it('an empty cursor lists from the newest message on', async () => {
    assert.deepEqual(await getPage(team.api, { cursor: '' }), await getPage(team.api, {}));
  });

  it('the filter from finds a mail address in any case', async () => {
    const here = await service.newTeam();
    const { wire } = await connectNumber(service, here);
    for (const from of ['Ada@Example.com', 'ADA@example.com', 'bob@example.com'])
      await wire.call('inbound', { from, text: `from ${from}` });
    for (const from of ['ada@example.com', 'Ada@Example.com', 'aDA@EXAMPLE.com']) {
      const { messages } = await getPage(here.api, { from });
      assertEach(messages, (message) => [message.from, message.content], [
        ['ada@example.com', 'from ADA@example.com'],
        ['ada@example.com', 'from Ada@Example.com'],
      ]);
    }
  });
});
