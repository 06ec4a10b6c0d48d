import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type pg from 'pg';
import { keyReader, type Reader } from '#server/dashboard/conversations/conversation-facts.ts';
import { queuedExaminedMax } from '#server/dashboard/conversations/conversation-lists.ts';
import {
  conversationMessagesExaminedMax,
  listConversationMessages,
  listPublicMessages,
} from '#server/dashboard/conversations/conversation-messages.ts';
import {
  conversationPageExaminedMax,
  listConversationRows,
  listConversations,
} from '#server/dashboard/conversations/list-conversations.ts';
import { countWaitingConversations } from '#server/dashboard/conversations/waiting-conversations.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { readConfig } from '#server/platform/config.ts';
import { type ConversationId, firstIdAt, type MemberId, type TeamId } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { explainStatements, walkPages } from '#test/support/database/explain-page.ts';
import { givenFilledDatabase } from '#test/support/database/given-database.ts';
import { blocks, type PlanNode, rowsRead } from '#test/support/database/plan-node.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

const total = 100_000;
const team = '01990000-0000-7000-8000-000000000001' as TeamId;
const reader: Reader = {
  memberId: '01990000-0000-7000-8000-000000000002' as MemberId,
  joinedId: firstIdAt(0),
};

/** `big` has nearly all conversations, `small` has few and old ones, and `again` was connected three times in turn. */
const big = '+14155550100';
const small = '+14155550110';
const again = '+14155550120';
/** This contact has written 60,000 messages to the small number, and three old ones to the big number. */
const scattered = '+12125550001';
/** This contact has 20,000 messages with the big number. */
const talkative = '+12125550002';

/** Conversations of a page. A query reads one more for has_more. */
const limit = 50;

describe(`pages of ${total.toLocaleString('en')} conversations (decisions 0012 and 0032)`, () => {
  const { service, client } = givenFilledDatabase((filler) => fill(filler));
  const clock = new Clock();
  const config = readConfig({});

  /**
   * Inserts conversations with an inbound message every 10 s, half of them read. 5,000 messages wait for 2,000
   * contacts; the oldest 3,000 are for one contact.
   */
  async function fill(filler: pg.Client): Promise<void> {
    await filler.query(`
      INSERT INTO teams SELECT '${team}', 'Example team', 'enterprise', 1000000000, to_timestamp(0), 'a1b2';
      INSERT INTO accounts (id, email, normalized_email, name, created_at) VALUES ('${team}', 'ada@example.com', 'ada@example.com', 'Ada', to_timestamp(0));
      INSERT INTO members (team_id, id, account_id, role, created_at) VALUES ('${team}', '${reader.memberId}', '${team}', 'viewer', to_timestamp(0));
      INSERT INTO numbers (team_id, id, phone_number, verified_at, created_at, deleted_at)
        SELECT '${team}', ('01990000-0000-7000-8000-00000000010' || n)::uuid, phone, to_timestamp(0), to_timestamp(0),
          CASE WHEN n IN (2, 3) THEN to_timestamp(0) END
        FROM unnest(ARRAY['${big}', '${small}', '${again}', '${again}', '${again}']) WITH ORDINALITY AS t (phone, m), LATERAL (SELECT m - 1 AS n) o;
      ALTER TABLE messages DROP CONSTRAINT messages_team_id_number_id_fkey;
      CREATE TEMP TABLE made AS
        SELECT n, to_timestamp(ms / 1000.0) AS at, (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id,
          ('01990000-0000-7000-8000-00000000010' || CASE WHEN n <= 1000 THEN 1 WHEN n % 100 < 3 THEN 2 + n % 100 ELSE 0 END)::uuid AS number_id,
          CASE WHEN n <= 1000 THEN '${small}' WHEN n % 100 < 3 THEN '${again}' ELSE '${big}' END AS phone,
          '+1646' || lpad((CASE WHEN n > 1000 AND n % 100 < 3 THEN n / 100 * 100 ELSE n END)::text, 7, '0') AS contact
        FROM (SELECT n, (extract(epoch FROM date_trunc('month', clock_timestamp())) * 1000)::bigint - 86400000 * 5::bigint + n * 10000::bigint AS ms
              FROM generate_series(1, ${total}) AS n) g;
      INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at)
        SELECT '${team}', id, number_id, 'inbound', contact, phone, n::text, 'received', at FROM made;
      INSERT INTO conversations (team_id, number_id, contact, id, opened_by, opened_at, last_inbound_at, last_activity_at, last_message_id, last_inbound_id)
        SELECT '${team}', number_id, contact, conversation_id('${team}', phone, contact), 'contact', at, at, at, id, id FROM made;
      INSERT INTO conversation_reads (team_id, member_id, phone_number, contact, read_until)
        SELECT '${team}', '${reader.memberId}', phone, contact, id FROM made WHERE n % 2 = 0 OR n BETWEEN 40000 AND 60000
        ON CONFLICT DO NOTHING;
      INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, hand_out_count, sent_at)
        SELECT '${team}', (lpad(to_hex(ms), 12, '0') || '70008001' || lpad(to_hex(k), 12, '0'))::uuid, '01990000-0000-7000-8000-000000000100',
          CASE WHEN is_inbound THEN 'inbound' ELSE 'outbound' END, CASE WHEN is_inbound THEN contact ELSE own END,
          CASE WHEN is_inbound THEN own ELSE contact END, k::text, CASE WHEN is_inbound THEN 'received' ELSE 'sent' END, to_timestamp(ms / 1000.0),
          CASE WHEN is_inbound THEN 0 ELSE 1 END, CASE WHEN is_inbound THEN NULL ELSE to_timestamp(0) END
        FROM (
          SELECT k, (SELECT (extract(epoch FROM min(at)) * 1000)::bigint FROM made) + k * 10::bigint AS ms,
            k > 20000 OR k % 2 = 0 AS is_inbound, CASE WHEN k <= 20000 THEN '${talkative}' ELSE '${scattered}' END AS contact,
            CASE WHEN k <= 20003 THEN '${big}' ELSE '${small}' END AS own
          FROM generate_series(1, 80003) AS k
        ) g;
      INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at)
        SELECT '${team}', (left(id::text, 18) || '-8002-' || right(id::text, 12))::uuid, number_id, 'outbound', phone,
          CASE WHEN n <= ${total} - 2000 THEN '${talkative}' ELSE contact END, 'waits', 'queued', at
        FROM made WHERE number_id = '01990000-0000-7000-8000-000000000100' AND n > ${total} - 5000;
      INSERT INTO send_queue (team_id, message_id, number_id, to_handle, queued_at)
        SELECT team_id, id, number_id, to_handle, created_at FROM messages WHERE status = 'queued' ORDER BY id;`);
  }

  const list = (query: Parameters<typeof listConversations>[3]) => (services: Runtime) =>
    listConversations(services, team, reader, { limit, ...query });
  const messages =
    (phoneNumber: string, contact: string, cursor = '') =>
    (services: Runtime) =>
      listConversationMessages(
        { ...services, clock, config },
        team,
        reader,
        { phoneNumber, contact },
        { limit, cursor },
      );
  const explained = (run: (services: Runtime) => Promise<unknown>) => explainStatements(client, service, run);

  /** Fails for a statement that reads more rows of a table than its bound. A table without a bound must not be read. */
  function assertRows(
    plans: ReadonlyMap<string, PlanNode>,
    bounds: Readonly<Record<string, number>>,
    what: string,
  ): void {
    assert.ok(plans.size > 0);
    for (const [name, plan] of plans) {
      for (const [table, read] of rowsRead(plan)) {
        const most = bounds[table];
        assert.ok(most !== undefined && read <= most, `${what}: ${name} reads ${read} of ${table}`);
      }
    }
  }

  /** Bounds for a list of `rows`. Each row and its last inbound message are compared with at most three numbers. */
  const ofRows = (rows: number) => ({
    conversations: rows * 7,
    numbers: rows * 13,
    conversation_reads: rows * 4,
  });
  const listBounds = {
    ...ofRows(conversationPageExaminedMax),
    send_queue: queuedExaminedMax + 100 * limit,
    messages: 1_000 * limit,
    device_sessions: limit,
    contact_handles: limit,
    contacts: limit,
    opt_outs: limit,
  };

  async function assertBounded(): Promise<void> {
    const middle = await cursorAfter(total / 2);
    for (const number of [undefined, big, small, again, '+14155550999']) {
      for (const filter of [{}, { unread: true }, { waiting: true }]) {
        for (const cursor of ['', middle]) {
          const query = {
            ...(number === undefined ? {} : { number }),
            ...filter,
            cursor,
          };
          assertRows(await explained(list(query)), listBounds, JSON.stringify(query));
        }
      }
    }
    const examined = conversationMessagesExaminedMax + 1_000;
    for (const contact of [talkative, scattered, '+16460050000', 'unknown']) {
      for (const phoneNumber of [big, small, again]) {
        const plans = await explained(messages(phoneNumber, contact));
        assertRows(plans, { ...listBounds, messages: examined }, `${phoneNumber} ${contact}`);
      }
    }
    const byKey = await explained((services) => listConversationRows(services, team, keyReader, { limit }));
    assertRows(byKey, listBounds, 'the list of a key');
    for (const contact of [talkative, 'unknown']) {
      const { rows } = await service.pool.query<{ id: ConversationId }>(
        `SELECT conversation_id('${team}', '${big}', '${contact}') AS id`,
      );
      const found = (services: Runtime) =>
        listPublicMessages(services, team, rows[0]?.id as ConversationId, { limit }).catch(() => undefined);
      assertRows(await explained(found), { ...listBounds, messages: examined }, `${contact} by id`);
    }
    const waiting = await explained((services) => countWaitingConversations(services, team));
    assertRows(
      waiting,
      { conversations: 1_000, numbers: 1_000, messages: 10, contact_handles: 5, contacts: 5 },
      'waiting',
    );
  }

  /** The cursor of the n-th conversation, from the newest. */
  async function cursorAfter(offset: number): Promise<string> {
    const { rows } = await service.pool.query<{ ms: string; id: string }>(
      `SELECT extract(epoch FROM last_activity_at) * 1000 AS ms, last_message_id AS id FROM conversations
       ORDER BY last_activity_at DESC, last_message_id DESC OFFSET ${offset} LIMIT 1`,
    );
    return rows.map(({ ms, id }) => `${Math.round(Number(ms))}_${id}`).join();
  }

  it('every filter of a page reads a bounded number of rows before ANALYZE', assertBounded);

  it('every filter of a page reads a bounded number of rows after ANALYZE', async () => {
    await client.query('ANALYZE');
    await assertBounded();
  });

  it('a page without filters reads as many rows as it shows, and a late page costs no more than the first', async () => {
    const costOf = async (cursor: string) => {
      const plan = (await explained(list({ cursor }))).get('conversations.page-of-all');
      assert.ok(plan);
      return { cost: blocks(plan), read: rowsRead(plan).get('conversations') ?? 0 };
    };
    await costOf('');
    // This cursor is beyond the conversations with waiting messages.
    const first = await costOf(await cursorAfter(6_000));
    const deep = await costOf(await cursorAfter(total - 5_000));
    assert.ok(first.read <= 7 * (limit + 1 + queuedExaminedMax), String(first.read));
    assert.ok(deep.cost <= 2 * first.cost, `${first.cost} blocks, then ${deep.cost}`);
  });

  it('pages that end early together show every conversation of a number once', async () => {
    const walk = async (query: Parameters<typeof listConversations>[3]) => {
      const { rows, pages } = await walkPages(
        (cursor) => list({ ...query, cursor, limit: 100 })({ database: service } as Runtime),
        (page) => page.conversations,
        200,
      );
      return { contacts: rows.map(({ contact }) => contact), pages };
    };
    const old = await walk({ number: small });
    assert.deepEqual([new Set(old.contacts).size, old.contacts.length], [1_000, 1_000]);
    assert.ok(
      old.pages > total / conversationPageExaminedMax / 2,
      `${old.pages} pages, of which many are empty`,
    );
    const thrice = await walk({ number: again });
    assert.deepEqual([new Set(thrice.contacts).size, thrice.contacts.length], [991, 991]);
    const unread = await walk({ number: small, unread: true });
    assert.equal(unread.contacts.length, 500);
  });

  it('pages of a conversation find its messages among many messages to other numbers', async () => {
    const walk = (phoneNumber: string, contact: string) =>
      walkPages(
        (cursor) => messages(phoneNumber, contact, cursor)({ database: service } as Runtime),
        (page) => page.messages,
        total,
      );
    const { rows, empty } = await walk(big, scattered);
    assertEach(rows, ({ content }) => content, ['20003', '20002', '20001']);
    assert.ok(empty >= 10, String(empty));
    assert.equal((await walk(small, talkative)).rows.length, 0);
  });
});
