import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { again } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Claim, claimMessages } from '#server/messages/claim-message.ts';
import { readConfig } from '#server/platform/config.ts';
import type { DeviceId, DeviceSessionId, NumberId, TeamId } from '#server/platform/ids.ts';
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
/** A time some minutes ago. It is never on the edge of a pacing window. */
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
  // Times relative to now; a negative time is the end of a limit that is over.
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
    const ofTeam = { team_id: team };
    const token = (kind: string, n: number) =>
      `\\x${Buffer.from(`${kind} ${n}`.padEnd(32, '.')).toString('hex')}`;
    /** The rows of a number by their tables, in an order in which they can be inserted. */
    const rowsOf = (state: State, n: number): Readonly<Record<string, readonly object[]>> => {
      const { status, pacing, queue, handedOutAgo, isInFlight } = state;
      const ofNumber = { ...ofTeam, number_id: idOf('01', n) };
      const ofPhone = { ...ofNumber, device_id: idOf('02', n), session_id: idOf('03', n) };
      const number = {
        ...ofTeam,
        ...{ id: idOf('01', n), phone_number: `+1415555${String(n).padStart(4, '0')}` },
        ...{
          status: status === 'paused' ? 'paused' : 'active',
          deleted_at: status === 'deleted' ? at(0) : null,
        },
        ...{ pacing: { ...pacing, gap_max_seconds: pacing.gap_min_seconds } },
        ...{ verified_at: at(0), created_at: at(0) },
      };
      const link = { id: idOf('04', n), token_hash: token('link', n), created_at: at(0), expires_at: at(0) };
      const device = { id: idOf('02', n), token_hash: token('device', n), created_at: at(0), generation: 1 };
      const session = { poll_sequence: 2, expires_at: at(-hourMs), last_seen_at: at(0) };
      const message = {
        direction: 'outbound',
        from_handle: '+14155550100',
        content: 'Hello',
        status: 'queued',
      };
      const inFlight = { message_id: messageId(n, 9), hand_out: 1, poll_sequence: 1, seq: n * 10 + 9 };
      return {
        numbers: [number],
        setup_links: [{ ...ofNumber, ...link }],
        devices: [{ ...ofNumber, ...device, setup_link_id: link.id }],
        device_sessions: [
          { ...ofPhone, ...session, hand_out_total: pacing.mode === 'off' ? 0 : handedOutAgo.length },
        ],
        messages: queue.map(({ contact }, index) => ({
          ...{ ...ofNumber, ...message, id: messageId(n, index) },
          ...{ to_handle: contactOf(n, contact), created_at: at(0) },
        })),
        send_queue: queue.map(({ contact, waitsForMedia }, index) => ({
          ...{ ...ofNumber, message_id: messageId(n, index), seq: n * 10 + index },
          ...{ to_handle: contactOf(n, contact), queued_at: at(0), waits_for_media: waitsForMedia },
        })),
        in_flight: isInFlight
          ? [{ ...ofPhone, ...inFlight, handed_out_at: at(0), leased_until: at(-hourMs) }]
          : [],
        recent_hand_outs: handedOutAgo.map((agoMs, index) => ({
          ...{ ...ofNumber, ordinal: index + 1, message_id: messageId(n, 8), hand_out: 1 },
          ...{ contact: contactOf(n, 0), handed_out_at: at(agoMs) },
        })),
        conversations: state.contacts.flatMap(({ conversation }, contact) =>
          conversation
            ? {
                ...{ ...ofNumber, contact: contactOf(n, contact), id: messageId(n, contact) },
                ...{ opened_by: conversation.openedBy },
                ...{ opened_at: at(conversation.openedAgo), unanswered_count: conversation.unanswered },
                ...{ last_inbound_at: at(0), last_activity_at: at(0), last_message_id: messageId(n, 8) },
              }
            : [],
        ),
        opt_outs: state.contacts.flatMap(({ isOptedOut }, contact) =>
          isOptedOut
            ? {
                ...{ ...ofTeam, id: messageId(n, contact), contact_hash: messageId(n, contact) },
                ...{ contact: contactOf(n, contact), sequence: 1, opted_out_at: at(0), request_id: 'req_1' },
              }
            : [],
        ),
      };
    };
    const all = states.map(rowsOf);
    await client.query(
      "INSERT INTO teams (id, name, plan, monthly_message_limit, created_at, route) VALUES ($1, 'Example team', 'pro', 100, $2, 'a1b2')",
      [team, now],
    );
    for (const table of Object.keys(all[0] ?? {})) {
      const rows = all.flatMap((each) => each[table] ?? []);
      const columns = Object.keys(rows[0] ?? {}).join(', ');
      await client.query(
        `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
        [JSON.stringify(rows)],
      );
    }
  });

  it('for each of 400 random numbers a claim gives the message, or the reason for waiting, that the model computes', async () => {
    const claims: (Claim | typeof again)[] = [];
    const frozen = Object.assign(Object.create(clock), { now: () => now }) as Clock;
    const services = { database: service, clock: frozen, config: readConfig({}) } as Runtime;
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
