import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { again } from '#server/database/group-commit.ts';
import { type Claim, claimMessages } from '#server/messages/claim-message.ts';
import { readConfig } from '#server/platform/config.ts';
import type { DeviceId, DeviceSessionId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { givenClient, givenDatabase } from '#test/support/database/given-database.ts';

/** FUZZ_SEED repeats a failure. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const numbers = 400;
const contacts = 3;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const team = '01990000-0000-7000-8000-000000000001' as TeamId;
const idOf = (kind: string, n: number) => `01990000-0000-7000-80${kind}-${String(n).padStart(12, '0')}`;

const count = fc.integer({ min: 1, max: 3 });
/** Some minutes ago. No time is on the edge of a window. */
const ago = fc.integer({ min: 1, max: 100 }).map((n) => n * 17 * minuteMs + 30_000);

/** The state of a number and of the poll that asks for a message. */
const stateOf = fc.record({
  status: fc.constantFrom('active', 'active', 'active', 'paused', 'deleted'),
  isNewest: fc.integer({ max: 9, min: 0 }).map((n) => n > 0),
  isInFlight: fc.integer({ max: 4, min: 0 }).map((n) => n === 0),
  pacing: fc.record({
    mode: fc.constantFrom('off', 'gentle', 'strict'),
    gap_min_seconds: fc.constantFrom(0, 1_800),
    messages_per_hour: count,
    messages_per_day: fc.integer({ min: 2, max: 6 }),
    new_contacts_per_hour: count,
    new_contacts_per_day: count,
    unanswered_per_contact: count,
  }),
  handedOutAgo: fc.uniqueArray(ago, { maxLength: 5 }).map((times) => times.sort((a, b) => b - a)),
  contacts: fc.array(
    fc.record({
      conversation: fc.option(
        fc.record({
          openedBy: fc.constantFrom('team', 'contact'),
          openedAgo: ago,
          unanswered: fc.integer({ min: 0, max: 3 }),
        }),
      ),
      isOptedOut: fc.integer({ max: 3, min: 0 }).map((n) => n === 0),
    }),
    { minLength: contacts, maxLength: contacts },
  ),
  queue: fc.array(
    fc.record({
      contact: fc.nat(contacts - 1),
      waitsForMedia: fc.integer({ max: 3, min: 0 }).map((n) => n === 0),
    }),
    { maxLength: 4 },
  ),
});
type State = typeof stateOf extends fc.Arbitrary<infer T> ? T : never;

/** The outcome of a claim as the specification has it (sections 8 and 11.4): the index of a message, or why none goes. */
function expected(state: State): number | 'nothing' | { untilMs: number | null; isWholeNumber: boolean } {
  const { pacing, queue, handedOutAgo } = state;
  if (state.status !== 'active' || !state.isNewest) return 'nothing';
  const isPaced = pacing.mode !== 'off';
  const isStrict = pacing.mode === 'strict';
  // Times relative to now; a limit that is over lies in the past.
  const endOf = (agoMs: number | undefined, windowMs: number) =>
    agoMs === undefined ? [] : [windowMs - agoMs];
  const limits = [
    ...endOf(handedOutAgo.at(-1), pacing.gap_min_seconds * 1_000),
    ...endOf(handedOutAgo.at(-pacing.messages_per_hour), hourMs),
    ...endOf(handedOutAgo.at(-pacing.messages_per_day), 24 * hourMs),
  ];
  const readyMs = isPaced ? Math.max(0, ...limits) : 0;
  const opened = state.contacts
    .flatMap(({ conversation }) => (conversation?.openedBy === 'team' ? conversation.openedAgo : []))
    .sort((a, b) => a - b);
  const newContactsMs = Math.max(
    0,
    ...endOf(opened[pacing.new_contacts_per_hour - 1], hourMs),
    ...endOf(opened[pacing.new_contacts_per_day - 1], 24 * hourMs),
  );
  const maySend = ({ contact, waitsForMedia }: State['queue'][number], index: number) => {
    const { conversation, isOptedOut } = state.contacts[contact] ?? assert.fail();
    const isHead = queue.findIndex((other) => other.contact === contact) === index;
    const isWithinLimits = conversation
      ? conversation.unanswered < pacing.unanswered_per_contact
      : newContactsMs === 0;
    return isHead && !waitsForMedia && !isOptedOut && (!isStrict || isWithinLimits);
  };
  const head = readyMs > 0 || state.isInFlight ? -1 : queue.findIndex(maySend);
  if (head !== -1) return head;
  if (queue.length === 0) return 'nothing';
  if (readyMs > 0) return { untilMs: readyMs, isWholeNumber: true };
  return isStrict ? { untilMs: newContactsMs || null, isWholeNumber: false } : 'nothing';
}

describe(`the claim against its model, seed ${seed} (§8/pacing-order, §3.2/handed-out-once)`, () => {
  const { database, service } = givenDatabase();
  const client = givenClient(database);
  const states = fc.sample(stateOf, { seed, numRuns: numbers });
  const clock = new Clock();
  let now: Date;

  const messageId = (n: number, index: number) => idOf('09', n * 10 + index);
  const contactOf = (n: number, contact: number) => `person-${n}-${contact}`;

  before(async () => {
    now = clock.now();
    const at = (agoMs: number) => new Date(now.getTime() - agoMs).toISOString();
    const insert = (table: string, rows: readonly object[]) =>
      rows.length === 0
        ? undefined
        : client.query(
            `INSERT INTO ${table} (${Object.keys(rows[0] ?? {}).join(', ')})
             SELECT ${Object.keys(rows[0] ?? {}).join(', ')} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
            [JSON.stringify(rows)],
          );
    const each = <Row extends object>(rowsOf: (state: State, n: number) => Row[]) =>
      states.flatMap((state, n) => rowsOf(state, n));
    const ofTeam = { team_id: team };
    await insert('teams', [
      {
        id: team,
        name: 'Example team',
        plan: 'pro',
        monthly_message_limit: 100,
        created_at: at(0),
        route: 'a1b2',
      },
    ]);
    await insert(
      'numbers',
      each(({ status, pacing }, n) => [
        {
          ...ofTeam,
          id: idOf('01', n),
          phone_number: `+1415555${String(n).padStart(4, '0')}`,
          status: status === 'paused' ? 'paused' : 'active',
          deleted_at: status === 'deleted' ? at(0) : null,
          verified_at: at(0),
          created_at: at(0),
          pacing: { ...pacing, gap_max_seconds: pacing.gap_min_seconds },
          label: '',
          on_unconfirmed: 'fail',
          is_simulated: false,
        },
      ]),
    );
    const token = (kind: string, n: number) =>
      `\\x${Buffer.from(`${kind} ${n}`.padEnd(32, '.')).toString('hex')}`;
    await insert(
      'setup_links',
      each((_, n) => [
        {
          ...ofTeam,
          id: idOf('04', n),
          number_id: idOf('01', n),
          token_hash: token('link', n),
          created_at: at(0),
          expires_at: at(0),
        },
      ]),
    );
    await insert(
      'devices',
      each((_, n) => [
        {
          ...ofTeam,
          id: idOf('02', n),
          number_id: idOf('01', n),
          setup_link_id: idOf('04', n),
          token_hash: token('device', n),
          generation: 1,
          created_at: at(0),
        },
      ]),
    );
    await insert(
      'device_sessions',
      each(({ handedOutAgo, pacing }, n) => [
        {
          number_id: idOf('01', n),
          ...ofTeam,
          device_id: idOf('02', n),
          session_id: idOf('03', n),
          poll_sequence: 2,
          expires_at: at(-hourMs),
          last_seen_at: at(0),
          requeue_count: 0,
          hand_out_total: pacing.mode === 'off' ? 0 : handedOutAgo.length,
        },
      ]),
    );
    await insert(
      'messages',
      each(({ queue }, n) =>
        queue.map(({ contact }, index) => ({
          ...ofTeam,
          id: messageId(n, index),
          number_id: idOf('01', n),
          direction: 'outbound',
          from_handle: '+14155550100',
          to_handle: contactOf(n, contact),
          content: 'Hello',
          status: 'queued',
          created_at: at(0),
          may_have_been_sent: false,
          hand_out_count: 0,
          last_event_sequence: 0,
          is_group: false,
        })),
      ),
    );
    await insert(
      'send_queue',
      each(({ queue }, n) =>
        queue.map(({ contact, waitsForMedia }, index) => ({
          ...ofTeam,
          message_id: messageId(n, index),
          number_id: idOf('01', n),
          seq: n * 10 + index,
          to_handle: contactOf(n, contact),
          queued_at: at(0),
          waits_for_media: waitsForMedia,
        })),
      ),
    );
    await insert(
      'in_flight',
      each(({ isInFlight }, n) =>
        isInFlight
          ? [
              {
                number_id: idOf('01', n),
                ...ofTeam,
                message_id: messageId(n, 9),
                hand_out: 1,
                device_id: idOf('02', n),
                session_id: idOf('03', n),
                poll_sequence: 1,
                seq: n * 10 + 9,
                handed_out_at: at(0),
                leased_until: at(-hourMs),
              },
            ]
          : [],
      ),
    );
    await insert(
      'recent_hand_outs',
      each(({ handedOutAgo }, n) =>
        handedOutAgo.map((agoMs, index) => ({
          ...ofTeam,
          number_id: idOf('01', n),
          ordinal: index + 1,
          message_id: messageId(n, 8),
          hand_out: 1,
          contact: contactOf(n, 0),
          handed_out_at: at(agoMs),
        })),
      ),
    );
    await insert(
      'conversations',
      each(({ contacts: all }, n) =>
        all.flatMap(({ conversation }, contact) =>
          conversation
            ? {
                ...ofTeam,
                number_id: idOf('01', n),
                contact: contactOf(n, contact),
                opened_by: conversation.openedBy,
                opened_at: at(conversation.openedAgo),
                last_inbound_at: at(0),
                unanswered_count: conversation.unanswered,
                last_activity_at: at(0),
                last_message_id: messageId(n, 8),
                handles: [],
              }
            : [],
        ),
      ),
    );
    await insert(
      'opt_outs',
      each(({ contacts: all }, n) =>
        all.flatMap(({ isOptedOut }, contact) =>
          isOptedOut
            ? {
                ...ofTeam,
                contact_hash: messageId(n, contact),
                contact: contactOf(n, contact),
                id: messageId(n, contact),
                sequence: 1,
                opted_out_at: at(0),
                request_id: 'req_1',
              }
            : [],
        ),
      ),
    );
  });

  it('each of 400 random numbers gets the message, or the reason, that the specification names', async () => {
    const claims: (Claim | typeof again)[] = [];
    const frozen = Object.assign(Object.create(clock), { now: () => now }) as Clock;
    const services = { database: service, clock: frozen, config: readConfig({}) };
    for (let first = 0; first < numbers; first += 100)
      claims.push(
        ...(await claimMessages(
          services,
          states.slice(first, first + 100).map(({ isNewest }, index) => ({
            teamId: team,
            numberId: idOf('01', first + index) as NumberId,
            deviceId: idOf('02', first + index) as DeviceId,
            sessionId: idOf('03', first + index) as DeviceSessionId,
            poll: isNewest ? 2 : 1,
          })),
          minuteMs,
        )),
      );
    const seen = { handedOut: 0, paced: 0, nothing: 0 };
    for (const [n, state] of states.entries()) {
      const claim = claims[n] ?? assert.fail();
      assert.ok(claim !== again, `number ${n}`);
      const outcome =
        claim.kind === 'hand_out'
          ? state.queue.findIndex((_, index) => claim.handOut.message_id === messageId(n, index))
          : claim.kind === 'paced'
            ? {
                untilMs: claim.until && claim.until > now ? claim.until.getTime() - now.getTime() : null,
                isWholeNumber: claim.isWholeNumber,
              }
            : 'nothing';
      assert.deepEqual(outcome, expected(state), `number ${n}: ${JSON.stringify(state)}`);
      seen[claim.kind === 'hand_out' ? 'handedOut' : claim.kind] += 1;
    }
    for (const [kind, times] of Object.entries(seen)) assert.ok(times >= 20, `${kind} ${times} times`);
  });
});
