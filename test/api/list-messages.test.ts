import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { type Direction, directions, type MessageStatus, messageStatuses } from '#contract/message.ts';
import { type MessageId, publicId } from '#server/platform/ids.ts';
import { ApiClient, field } from '#test/support/api-client.ts';
import { plantCanary } from '#test/support/canary.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';

const minuteMs = 60_000;
const never = 'msg_01h2xcejqtf2nbrexx3vqjhp41';

/** An item of the list as the specification lists its fields. */
interface Item {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly content: string;
  readonly media_url: null;
  readonly status: MessageStatus;
  readonly direction: Direction;
  readonly created_at: string;
  readonly delivered_at: string | null;
}

interface Filters {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly status?: string | undefined;
  readonly direction?: string | undefined;
}

interface Page {
  readonly messages: readonly Item[];
  readonly cursor: string;
  readonly has_more: boolean;
}

function address(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return `/v1/messages?${new URLSearchParams(given)}`;
}

async function getPage(
  api: ApiClient,
  parameters: Readonly<Record<string, string | number | undefined>>,
): Promise<Page> {
  const answer = await api.get(address(parameters));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.json), ['messages', 'cursor', 'has_more']);
  return answer.json as unknown as Page;
}

/** Every page from a position to the end, by the rule that clients are told: follow cursor until has_more is false. */
async function walk(
  clients: readonly ApiClient[],
  filters: Filters,
  limit: () => number,
  cursor?: string,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 0, from = cursor; ; page += 1) {
    const asked = limit();
    const api = clients[page % clients.length];
    assert.ok(api);
    const got = await getPage(api, { ...filters, limit: asked, cursor: from });
    assert.ok(got.messages.length <= asked, `${got.messages.length} on a page of ${asked}`);
    items.push(...got.messages);
    if (!got.has_more) {
      assert.equal(got.cursor, got.messages.at(-1)?.id ?? '');
      return items;
    }
    assert.match(got.cursor, /^msg_[0-9a-hjkmnp-tv-z]{26}$/);
    assert.ok(from === undefined || from === '' || got.cursor < from, 'the walk goes on');
    from = got.cursor;
  }
}

const ids = (items: readonly { readonly id: string }[]) => items.map((item) => item.id);

/** The filters one by one, which alone could match half of what each pair leaves. */
const fits = (item: Item, filters: Filters) =>
  (['from', 'to', 'status', 'direction'] as const).every(
    (name) => filters[name] === undefined || filters[name] === item[name],
  );

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
  let service: TestService;
  let team: TestTeam;
  let canary: Awaited<ReturnType<typeof plantCanary>>;
  let model: readonly Item[];

  const own = ['+14155550100', '+14155550110', '+14155550120'];
  const deleted = '+14155550130';
  const contacts = ['+14155550101', '+442071838750', '+14155550103'];
  const handles = ['anna@example.com', '22000', 'Zoë & Søn + 😀 %2B'];

  before(async () => {
    // Nothing of the model may change by itself.
    service = await startTestService({ QUEUE_EXPIRY_HOURS: '8760', DEVICE_LEASE_SECONDS: '86400' });
    canary = await plantCanary(service);
    team = await service.newTeam();
    for (const phone of [...own, deleted]) await connectNumber(service, team, phone);
    const rows = await service.query<{ id: string; phone_number: string }>(
      'SELECT id, phone_number FROM numbers WHERE team_id = $1',
      [team.id],
    );
    const numberIds = new Map(rows.map((row) => [row.phone_number, row.id]));
    await team.api.delete(`/v1/numbers/${publicId('num', numberIds.get(deleted) as never)}`);
    model = await fillModel(numberIds);
  });
  after(() => service.close());

  /** Four hundred messages over ten weeks, some in the same millisecond, some older than any month's partition. */
  async function fillModel(numberIds: ReadonlyMap<string, string>): Promise<Item[]> {
    const people = [...contacts, ...own];
    const drawn = fc.sample(
      fc.record({
        number: fc.constantFrom(...own, deleted),
        inbound: fc.boolean(),
        person: fc.constantFrom(...people),
        sender: fc.constantFrom(...people, ...handles),
        status: fc.constantFrom('queued', 'polling', 'sent', 'delivered', 'failed' as const),
        minutesAgo: fc.oneof(fc.constantFrom(1, 2), fc.integer({ min: 1, max: 70 * 24 * 60 })),
        content: fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
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
      // One message in a phone's hands, and a deleted number has none that waits.
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
      await store(item, id, numberIds.get(message.number));
    }
    return items.reverse();
  }

  async function store(item: Item, id: string, numberId: string | undefined): Promise<void> {
    const { status } = item;
    const at = item.created_at;
    await service.query(
      `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, sent_at,
         delivered_at, failed_at, error_code, hand_outs)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
      [
        team.id,
        id,
        numberId,
        item.direction,
        item.from,
        item.to,
        item.content,
        status,
        at,
        status === 'sent' || status === 'delivered' ? at : null,
        item.delivered_at,
        status === 'failed' ? at : null,
        status === 'failed' ? 'device_error' : null,
        status === 'queued' || status === 'received' ? 0 : 1,
      ],
    );
    if (status === 'queued') {
      await service.query(
        'INSERT INTO send_queue (team_id, message_id, number_id, to_handle, queued_at) VALUES ($1, $2, $3, $4, $5)',
        [team.id, id, numberId, item.to, at],
      );
    }
    if (status === 'polling') {
      await service.query(
        `INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll, seq, handed_out_at, lease_until)
         SELECT $1, $2, $3, 1, device_id, session_id, poll, 0, $4, $4::timestamptz + interval '200 days'
         FROM device_sessions WHERE number_id = $1`,
        [numberId, team.id, id, at],
      );
    }
  }

  /** A sender that always draws the same numbers. */
  function randomLimits(seed: number): (expected: number) => number {
    let state = seed;
    return (expected) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.min(100, Math.max(1 + (state % 100), Math.ceil(expected / 8)));
    };
  }

  it('the model has messages of every status and direction, enough for several pages', () => {
    for (const status of messageStatuses) {
      const least = status === 'polling' ? own.length : 20;
      assert.ok(model.filter((item) => item.status === status).length >= least, status);
    }
    assert.equal(model.length, 400);
    assert.ok(new Set(model.map((item) => item.created_at)).size < 390);
  });

  it('shows exactly what every combination of filters leaves, all fields of each, newest first, in pages of any size', async () => {
    const limitOf = randomLimits(7);
    const combined = combinations(
      [undefined, own[0], own[1], deleted, contacts[0], contacts[1], ...handles, '+14155550999'],
      [undefined, own[0], own[1], deleted, contacts[0], '+14155550999'],
    );
    assert.equal(combined.length, 10 * 6 * 7 * 3);
    let shown = 0;
    for (const filters of combined) {
      const expected = model.filter((item) => fits(item, filters));
      const items = await walk([team.api], filters, () => limitOf(expected.length));
      assert.deepEqual(items, expected, JSON.stringify(filters));
      shown += items.length;
    }
    assert.ok(shown > 4_000, `${shown}`);
  });

  it('begins after any position: an id of the list, one of another team, one that never was', async () => {
    const limitOf = randomLimits(11);
    const smallest = 'msg_00000000000000000000000000';
    const largest = 'msg_7zzzzzzzzzzzzzzzzzzzzzzzzz';
    const between = model.filter((_, index) => index % 29 === 3).map((item) => item.id);
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

  it('says received of inbound messages and every other status of outbound ones: the rest excludes itself', async () => {
    for (const status of messageStatuses) {
      const other = status === 'received' ? 'outbound' : 'inbound';
      assert.deepEqual(await getPage(team.api, { status, direction: other }), {
        messages: [],
        cursor: '',
        has_more: false,
      });
    }
  });

  it('takes 1 to 100 as limit, 50 where none is given', async () => {
    const first = await getPage(team.api, {});
    assert.deepEqual(ids(first.messages), ids(model.slice(0, 50)));
    assert.deepEqual([first.cursor, first.has_more], [model[49]?.id, true]);
    for (const limit of [1, 2, 49, 99, 100]) {
      assert.equal((await getPage(team.api, { limit })).messages.length, limit);
    }
  });

  it('knows the end exactly: has_more is false on the last page, be it full or not', async () => {
    for (const left of [1, 99, 100, 101]) {
      const cursor = model.at(-left - 1)?.id;
      const page = await getPage(team.api, { limit: 100, cursor });
      assert.deepEqual([page.messages.length, page.has_more], [Math.min(left, 100), left > 100]);
      assert.equal(page.cursor, page.messages.at(-1)?.id);
    }
  });

  it('an empty cursor is none', async () => {
    assert.deepEqual(await getPage(team.api, { cursor: '' }), await getPage(team.api, {}));
  });

  it('refuses a cursor that is no id of a message', async () => {
    const malformed = [
      'x',
      ' ',
      'msg_',
      never.slice(0, -1),
      `${never}0`,
      `${never} `,
      never.toUpperCase(),
      never.replace('msg_', 'MSG_'),
      never.replace('msg_', 'num_'),
      never.replace('msg_', ''),
      never.replace('msg_', 'msg__'),
      never.replace('0', 'u'),
      'msg_8zzzzzzzzzzzzzzzzzzzzzzzzz',
      '01990000-0000-7000-8000-000000000001',
      'null',
      "' OR true --",
      '\u0000',
      '😀',
      `msg_${'0'.repeat(5_000)}`,
    ];
    for (const cursor of malformed) {
      for (const filters of [{}, { status: 'queued', direction: 'inbound' }]) {
        const answer = await team.api.get(address({ ...filters, cursor }));
        assert.equal(answer.status, 400, `${cursor}: ${answer.text}`);
        assert.equal(field(answer.json, 'error.code'), 'invalid_request');
        assert.equal(field(answer.json, 'error.param'), 'cursor');
      }
    }
  });

  it('refuses other values with the parameter at fault', async () => {
    const refused: [string, string][] = [
      ...[
        '0',
        '101',
        '-1',
        '1.5',
        '1e1',
        '0x10',
        'x',
        '',
        ' 5',
        '5 ',
        '99999999999999999999',
        'null',
        '१',
      ].map((limit): [string, string] => [`limit=${encodeURIComponent(limit)}`, 'limit']),
      ...['', 'Sent', 'sent ', 'sent,failed', 'sending', 'inbound', 'null'].map(
        (status): [string, string] => [`status=${encodeURIComponent(status)}`, 'status'],
      ),
      ...['', 'in', 'Inbound', 'received'].map((direction): [string, string] => [
        `direction=${direction}`,
        'direction',
      ]),
      ...[
        '',
        '14155550101',
        '+0155550101',
        '+1',
        'anna@example.com',
        '+1415555010x',
        '+1415555010123456',
      ].map((to): [string, string] => [`to=${encodeURIComponent(to)}`, 'to']),
      ['from=', 'from'],
      ['from=%00', 'from'],
    ];
    for (const [query, param] of refused) {
      const answer = await team.api.get(`/v1/messages?${query}`);
      assert.equal(answer.status, 400, `${query}: ${answer.text}`);
      assert.deepEqual(
        [field(answer.json, 'error.code'), field(answer.json, 'error.param')],
        ['invalid_request', param],
        query,
      );
      assert.match(String(field(answer.json, 'error.message')), new RegExp(param), query);
    }
  });

  it('says what a parameter may be: the words of status, the bounds of limit', async () => {
    const message = async (query: string) =>
      String(field((await team.api.get(`/v1/messages?${query}`)).json, 'error.message'));
    for (const status of messageStatuses) assert.ok((await message('status=x')).includes(status));
    assert.match(await message('limit=0'), /1/);
    assert.match(await message('limit=101'), /100/);
  });

  it('refuses a parameter that is sent twice', async () => {
    for (const [name, value] of Object.entries({
      from: '%2B14155550101',
      to: '%2B14155550101',
      status: 'sent',
      direction: 'inbound',
      limit: '5',
      cursor: never,
    })) {
      for (const query of [
        `${name}=${value}&${name}=${value}`,
        `${name}=${value}&limit=5&${name}=&limit=5`,
      ]) {
        const answer = await team.api.get(`/v1/messages?${query}`);
        assert.equal(answer.status, 400, answer.text);
        assert.equal(field(answer.json, 'error.param'), name);
        assert.match(String(field(answer.json, 'error.message')), /once/);
      }
    }
  });

  it('refuses a + that arrived as a space and says how to write it', async () => {
    for (const name of ['from', 'to']) {
      for (const value of ['+14155550101', '%2014155550101']) {
        const answer = await team.api.get(`/v1/messages?${name}=${value}`);
        assert.equal(answer.status, 400, answer.text);
        assert.equal(field(answer.json, 'error.param'), name);
        assert.match(String(field(answer.json, 'error.message')), /%2B/);
      }
    }
    for (const value of ['ada+news@example.com', 'ada%20news@example.com', 'a++b@example.com']) {
      const answer = await team.api.get(`/v1/messages?from=${value}`);
      assert.equal(answer.status, 400, answer.text);
      assert.equal(field(answer.json, 'error.param'), 'from');
      assert.match(String(field(answer.json, 'error.message')), /%2B/);
    }
    for (const value of ['ada%2Bnews@example.com', 'Ada+Example', 'Ada+%3Cada@example.com%3E']) {
      assert.equal((await team.api.get(`/v1/messages?from=${value}`)).status, 200, value);
    }
  });

  it('refuses a value whose percent-encoding is none, or not of UTF-8', async () => {
    for (const value of ['%FF', '%C3%28', '%', '100%', '%zz', 'a%F0%9F']) {
      for (const query of [`from=${value}`, `limit=5&from=${value}&to=`]) {
        const answer = await team.api.get(`/v1/messages?${query}`);
        assert.equal(answer.status, 400, answer.text);
        assert.equal(field(answer.json, 'error.param'), 'from');
        assert.match(String(field(answer.json, 'error.message')), /percent-encoded UTF-8/);
      }
    }
    assert.equal((await team.api.get('/v1/messages?from=100%25')).status, 200);
  });

  it('refuses a parameter that it does not know, by name, and lists those it knows (section 2.1)', async () => {
    const unknown = [
      'offset',
      'Limit',
      'from[]',
      'x-api-key',
      'constructor',
      'toString',
      'hasOwnProperty',
      '__proto__',
      'a b',
    ];
    for (const name of unknown) {
      for (const value of ['', '1']) {
        const answer = await team.api.get(`/v1/messages?${encodeURIComponent(name)}=${value}`);
        assert.equal(answer.status, 400, `${name}: ${answer.text}`);
        assert.equal(field(answer.json, 'error.param'), name);
        const message = String(field(answer.json, 'error.message'));
        for (const known of ['from', 'to', 'status', 'direction', 'limit', 'cursor'])
          assert.match(message, new RegExp(`\\b${known}\\b`));
      }
    }
  });

  it('shows nothing of other teams, whatever is asked for', async () => {
    const other = await service.newTeam();
    const nothing = '{"messages":[],"cursor":"","has_more":false}';
    assert.equal((await other.api.get('/v1/messages')).text, nothing);
    const asked: Filters[] = [
      { from: canary.number.phoneNumber },
      { to: canary.number.phoneNumber },
      { from: '+14155550197' },
      { from: canary.number.phoneNumber, to: '+14155550197' },
      { from: own[0] },
      { to: own[0] },
      ...messageStatuses.map((status) => ({ status })),
    ];
    for (const filters of asked) assert.equal((await other.api.get(address({ ...filters }))).text, nothing);
    const theirs = await getPage(canary.team.api, {});
    assert.deepEqual(ids(theirs.messages), [canary.inboundId, canary.queuedId]);
    assert.deepEqual(ids(await walk([team.api], {}, () => 100)), ids(model));
  });
});

describe('walking the pages while messages arrive (specification section 4.3)', () => {
  let service: TestService;
  let team: TestTeam;
  let number: ConnectedNumber;
  let clients: ApiClient[];
  let closeSecond: () => Promise<void>;

  const to = '+14155550101';

  before(async () => {
    service = await startTestService({ QUEUE_EXPIRY_HOURS: '8760' });
    await plantCanary(service);
    team = await service.newTeam();
    number = await connectNumber(service, team, '+14155550100');
    const second = await service.startAnother();
    closeSecond = second.close;
    clients = [team.api, new ApiClient(second.baseUrl, team.api.key)];
  });
  after(async () => {
    await closeSecond();
    await service.close();
  });

  /** Messages that arrive at both processes until `work` is done: sends, cancelled ones among them, and inbound ones. */
  async function whileMessagesArrive(work: () => Promise<void>): Promise<number> {
    let over = false;
    let arrived = 0;
    const sending = clients.map(async (api) => {
      while (!over) {
        const sent = ['one', 'two', 'three'].map((content) =>
          api.send({ from: number.phoneNumber, to, content }),
        );
        const [first] = await Promise.all(sent);
        await api.post(`/v1/messages/${first}/cancel`);
        arrived += 3;
      }
    });
    const receiving = (async () => {
      while (!over) {
        await number.wire.call('inbound', { from: to, text: `inbound ${arrived} ${Math.random()}` });
        arrived += 1;
      }
    })();
    await work().finally(() => {
      over = true;
    });
    await Promise.all([...sending, receiving]);
    return arrived;
  }

  /** 11,000 messages, one a second; 86 of them delivered, where a page of them stops reading, 10,000 messages back. */
  const fillHistory = () =>
    service.query(
      `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at,
         hand_outs, sent_at, delivered_at)
       SELECT n.team_id, (lpad(to_hex($1::bigint - m * 1000), 12, '0') || '70008000' || lpad(to_hex(m), 12, '0'))::uuid,
         n.id, 'outbound', n.phone_number, $2, 'Hello', CASE WHEN there THEN 'delivered' ELSE 'sent' END, to_timestamp(0),
         1, to_timestamp(1), CASE WHEN there THEN to_timestamp(2) END
       FROM numbers n, (SELECT count(*) AS sent FROM messages) AS newer, generate_series(1, 11000) AS m,
         LATERAL (SELECT m + sent BETWEEN 9500 AND 9670 AND (m + sent) % 2 = 0 AS there) AS d
       WHERE n.phone_number = $3`,
      [service.clock.nowMs() - 3_600_000, to, number.phoneNumber],
    );

  function assertOnceNewestFirst(items: readonly Item[], present: readonly string[]): void {
    const seen = ids(items);
    assert.deepEqual(seen, [...new Set(seen)].sort().reverse());
    const shown = new Set(seen);
    assert.deepEqual(
      present.filter((id) => !shown.has(id)),
      [],
    );
  }

  it('shows every message that was there at the start once, newest first, over two processes', async () => {
    for (let sent = 0; sent < 60; sent += 1) {
      await clients[sent % 2]?.send({ from: number.phoneNumber, to, content: `${sent}` });
      if (sent % 3 === 0) await number.wire.call('inbound', { from: to, text: `${sent}` });
    }
    const present = await walk(clients, {}, () => 100);
    assert.equal(present.length, 80);
    const filters: Filters[] = [
      {},
      { from: number.phoneNumber },
      { to },
      { from: to },
      { from: number.phoneNumber, to },
      { direction: 'inbound' },
      { status: 'queued' },
      { status: 'queued', to },
    ];
    let size = 0;
    const nextSize = () => {
      size = (size + 2) % 13;
      return size + 1;
    };
    const arrived = await whileMessagesArrive(async () => {
      for (const filter of filters) {
        const items = await walk(clients, filter, nextSize);
        assertOnceNewestFirst(items, ids(present.filter((item) => fits(item, filter))));
        for (const item of items) assert.ok(fits(item, { ...filter, status: undefined }));
      }
    });
    assert.ok(arrived > 50, `${arrived} arrived`);
  });

  it('a page that met its bound neither repeats nor leaves out what lies there', async () => {
    await fillHistory();
    const present = await walk(clients, { status: 'delivered' }, () => 100);
    assert.equal(present.length, 86);
    let met = 0;
    await whileMessagesArrive(async () => {
      // They push the bound along: where they come slowly, it takes more rounds until a page meets it.
      for (let round = 0; round < 40 || (met === 0 && round < 1_000); round += 1) {
        const first = await getPage(team.api, { status: 'delivered', limit: 100 });
        if (first.has_more && first.messages.length > 0 && first.messages.length < 86) met += 1;
        const rest = first.has_more
          ? await walk(clients, { status: 'delivered' }, () => 100, first.cursor)
          : [];
        assert.deepEqual(ids([...first.messages, ...rest]), ids(present), `round ${round}`);
      }
    });
    assert.ok(met > 0, 'no page met its bound: the test tests nothing');
  });
});
