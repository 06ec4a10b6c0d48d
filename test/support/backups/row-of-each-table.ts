import { Secrets } from '#server/platform/crypto.ts';
import { secretsKeyOfTests } from './restored-copy.ts';

type Row = Readonly<Record<string, unknown>>;

const at = '2026-11-22T03:04:05.678Z';
const later = '2026-11-23T03:04:05.678Z';
const month = '2026-11-01';
const hash = Buffer.alloc(32, 7);
const contact = '+14155550142';
const url = 'https://receiver.example.com/hook';
const id = (digits: number) => `018f0000-0000-7000-8000-${String(digits).padStart(12, '0')}`;

const [testTeam, account, member, number, testLine] = [id(1), id(2), id(3), id(4), id(5)];
const [setupLink, device, session, message, event] = [id(6), id(7), id(8), id(9), id(10)];
const [webhook, delivery, key, file] = [id(11), id(12), id(13), '9007199254740993'];

/**
 * Rows for each table of a backup, in an order in which they can be inserted. A new table gets its row here.
 * @param team the id of the team of `openBareDatabase`
 */
export function rowOfEachTable(team: string): Readonly<Record<string, readonly Row[]>> {
  const ofTeam = { team_id: team };
  const ofNumber = { ...ofTeam, number_id: number };
  const ofAccount = { account_id: account };
  return {
    instance: [{ secrets_key_fingerprint: new Secrets(secretsKeyOfTests).fingerprint() }],
    teams: [
      {
        ...{ id: testTeam, name: 'Test team', plan: 'pro', monthly_message_limit: 100 },
        ...{ created_at: at, route: 'z9z9' },
      },
    ],
    test_teams: [{ ...ofTeam, test_team_id: testTeam }],
    demo_team: [ofTeam],
    accounts: [
      {
        id: account,
        email: 'Ada@example.com',
        normalized_email: 'ada@example.com',
        name: 'A\t\\N\n',
        created_at: at,
      },
    ],
    members: [{ ...ofTeam, id: member, ...ofAccount, role: 'owner', created_at: at }],
    invitations: [
      {
        ...ofTeam,
        id: id(20),
        email: 'b@example.com',
        normalized_email: 'b@example.com',
        role: 'viewer',
        token_hash: hash,
        invited_by: member,
        created_at: at,
        expires_at: later,
      },
    ],
    account_sessions: [
      {
        id: id(21),
        ...ofAccount,
        token_hash: hash,
        method: 'passkey',
        ip: '192.0.2.1',
        user_agent: 'Browser',
        created_at: at,
        last_used_at: at,
        expires_at: later,
      },
    ],
    magic_links: [{ id: id(22), ...ofAccount, token_hash: hash, created_at: at, expires_at: later }],
    passkeys: [
      {
        id: id(23),
        ...ofAccount,
        credential_id: hash,
        public_key: hash,
        counter: '4294967295',
        transports: ['internal', 'hybrid'],
        name: 'Phone',
        created_at: at,
      },
    ],
    passkey_challenges: [{ challenge_hash: hash, ...ofAccount, expires_at: later }],
    api_keys: [
      {
        ...ofTeam,
        id: key,
        name: 'CI',
        permissions: ['*'],
        hash,
        created_at: at,
        created_by: member,
        test_team_id: testTeam,
      },
    ],
    audit_log: [
      {
        id: id(24),
        ...ofTeam,
        actor_kind: 'key',
        actor_id: key,
        actor_name: 'CI',
        action: 'key.created',
        target: key,
        details: '{"a": [1, "\\u00fc"]}',
        outcome: 'done',
        ip: '192.0.2.1',
        request_id: 'req_1',
        created_at: at,
      },
    ],
    numbers: [
      {
        ...ofTeam,
        id: number,
        phone_number: '+14155550100',
        pacing: '{"a": 1}',
        verified_at: at,
        created_at: at,
      },
      {
        team_id: testTeam,
        id: testLine,
        phone_number: '+15005550100',
        is_simulated: true,
        verified_at: at,
        created_at: at,
      },
    ],
    simulated_phones: [{ number_id: testLine, team_id: testTeam, holder: id(25), leased_until: later }],
    setup_links: [
      { ...ofNumber, id: setupLink, token_hash: hash, generation: 7, created_at: at, expires_at: later },
    ],
    setup_tests: [{ ...ofTeam, setup_link_id: setupLink, message_ids: [message], hand_ticks: ['a'] }],
    devices: [
      { ...ofNumber, id: device, setup_link_id: setupLink, token_hash: hash, generation: 7, created_at: at },
    ],
    device_sessions: [
      {
        ...ofNumber,
        device_id: device,
        session_id: session,
        poll_sequence: 3,
        expires_at: later,
        last_seen_at: at,
      },
    ],
    number_health: [{ ...ofNumber, state: 'offline', since: at, last_seen_at: at, sequence: 2 }],
    messages: [
      {
        ...ofNumber,
        id: message,
        direction: 'outbound',
        from_handle: '+14155550100',
        to_handle: contact,
        content: 'Grüße 😀\n\\.\n',
        status: 'polling',
        created_at: at,
        hand_out_count: 1,
      },
    ],
    send_queue: [{ ...ofNumber, message_id: id(26), to_handle: contact, queued_at: at }],
    in_flight: [
      {
        ...ofNumber,
        message_id: message,
        hand_out: 1,
        device_id: device,
        session_id: session,
        poll_sequence: 3,
        seq: 1,
        handed_out_at: at,
        leased_until: later,
      },
    ],
    hand_outs: [
      {
        ...ofTeam,
        message_id: message,
        hand_out: 1,
        device_id: device,
        session_id: session,
        handed_out_at: at,
      },
    ],
    recent_hand_outs: [
      { ...ofNumber, ordinal: 1, message_id: message, hand_out: 1, contact, handed_out_at: at },
    ],
    idempotency_keys: [{ ...ofTeam, key: 'order-1', message_id: message, fingerprint: hash, created_at: at }],
    inbound_fingerprints: [{ ...ofNumber, fingerprint: hash, message_id: message, stored_at: at }],
    inbound_ids: [{ ...ofNumber, given_id_hash: hash, message_id: message }],
    conversations: [
      {
        ...ofNumber,
        contact,
        opened_by: 'team',
        opened_at: at,
        handles: [contact],
        last_activity_at: at,
        last_message_id: message,
      },
    ],
    conversation_reads: [
      { ...ofTeam, member_id: member, phone_number: '+14155550100', contact, read_until: message },
    ],
    opt_outs: [
      {
        ...ofTeam,
        contact_hash: id(28),
        contact,
        id: id(27),
        sequence: 1,
        opted_out_at: at,
        request_id: 'req_2',
      },
    ],
    erasures: [
      { ...ofTeam, contact, handles: [contact], until_id: message, contact_events: 1, created_at: at },
    ],
    erased_events: [{ ...ofTeam, event_id: event }],
    media: [
      {
        message_id: message,
        file_id: file,
        ...ofTeam,
        name: 'a.png',
        type: 'image/png',
        created_at: at,
        is_complete: true,
        size_bytes: 32,
        sha256: hash,
      },
    ],
    media_chunks: [{ ...ofTeam, message_id: message, file_id: file, position: 0, data: hash }],
    media_fetches: [{ ...ofTeam, message_id: message, url, origin: 'https://example.com', due_at: at }],
    events: [
      {
        ...ofNumber,
        id: event,
        type: 'message.sent',
        message_id: message,
        sequence: 1,
        data: '{}',
        created_at: at,
      },
    ],
    event_feed: [{ ...ofTeam, event_id: event }],
    feed_removals: [{ ...ofTeam, position: 1, event_id: event }],
    unpublished_events: [{ ...ofTeam, event_id: event }],
    webhooks: [{ ...ofTeam, id: webhook, url, events: ['message.sent'], secret: hash, created_at: at }],
    deliveries: [
      {
        ...ofTeam,
        id: delivery,
        webhook_id: webhook,
        event_id: event,
        event_type: 'message.sent',
        status: 'pending',
        created_at: at,
      },
    ],
    due_deliveries: [
      { webhook_id: webhook, delivery_id: delivery, ...ofTeam, event_id: event, due_at: at, body: '{}' },
    ],
    attempts: [
      {
        ...ofTeam,
        delivery_id: delivery,
        id: id(29),
        started_at: at,
        duration_ms: 12,
        outcome: 'timeout',
        url,
        is_counted: true,
        response_body: Buffer.from([0, 255, 92]),
      },
    ],
    mails: [{ id: id(30), recipient: 'ada@example.com', body: hash, created_at: at, next_attempt_at: at }],
    usage_days: [{ ...ofTeam, day: '2026-11-22', direction: 'outbound', messages: 3 }],
    usage_months: [{ ...ofTeam, month, accepted: 3 }],
    usage_notices: [{ ...ofTeam, month, percent: 80, created_at: at }],
    restores: [{ restored_at: at, backup_taken_at: at, product_version: '0.1.0', schema_version: 27 }],
  };
}
