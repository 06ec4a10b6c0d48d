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
 * Returns rows for each table of a backup, in an order in which they can be inserted. A new table needs a row here.
 * @param team the id of the team of `openBareDatabase`
 */
export function rowOfEachTable(team: string): Readonly<Record<string, readonly Row[]>> {
  const made = { created_at: at };
  const ofTeam = { team_id: team };
  const ofAccount = { account_id: account };
  const ofNumber = { ...ofTeam, number_id: number };
  const ofMessage = { ...ofTeam, message_id: message };
  const ofEvent = { ...ofTeam, event_id: event };
  const ofPhone = { device_id: device, session_id: session };
  const ofToken = { token_hash: hash, ...made, expires_at: later };
  const ofConversation = { ...ofNumber, contact };
  const address = { email: 'Ada@example.com', normalized_email: 'ada@example.com' };
  const sent = { direction: 'outbound', from_handle: '+14155550100', to_handle: contact };
  const verified = { verified_at: at, ...made };
  const handedOut = { hand_out: 1, handed_out_at: at };
  const browser = { ip: '192.0.2.1', user_agent: 'Browser' };
  const credential = { credential_id: hash, public_key: hash, counter: '4294967295' };
  const issued = { created_by: member, test_team_id: testTeam };
  const changed = { target: key, details: '{"a": [1, "\\u00fc"]}' };
  const opened = { opened_by: 'team', opened_at: at, handles: [contact] };
  const complete = { is_complete: true, size_bytes: 32, sha256: hash };
  const unconfirmed = { status: 'polling', hand_out_count: 1 };
  const claimed = { setup_link_id: setupLink, token_hash: hash, generation: 7 };
  const tried = { started_at: at, duration_ms: 12, outcome: 'timeout', url, is_counted: true };
  const byKey = { actor_kind: 'key', actor_id: key, actor_name: 'CI', ip: '192.0.2.1', request_id: 'req_1' };
  return {
    instance: [{ secrets_key_fingerprint: new Secrets(secretsKeyOfTests).fingerprint() }],
    teams: [
      { id: testTeam, name: 'Test team', plan: 'pro', monthly_message_limit: 100, ...made, route: 'z9z9' },
    ],
    test_teams: [{ ...ofTeam, test_team_id: testTeam }],
    demo_team: [ofTeam],
    accounts: [{ id: account, ...address, name: 'A\t\\N\n', ...made }],
    members: [{ ...ofTeam, id: member, ...ofAccount, role: 'owner', ...made }],
    invitations: [{ ...ofTeam, id: id(20), ...address, role: 'viewer', invited_by: member, ...ofToken }],
    account_sessions: [
      { id: id(21), ...ofAccount, method: 'passkey', ...browser, last_used_at: at, ...ofToken },
    ],
    magic_links: [{ id: id(22), ...ofAccount, ...ofToken }],
    passkeys: [
      { id: id(23), ...ofAccount, ...credential, name: 'Phone', transports: ['internal', 'hybrid'], ...made },
    ],
    passkey_challenges: [{ challenge_hash: hash, ...ofAccount, expires_at: later }],
    api_keys: [{ ...ofTeam, id: key, name: 'CI', permissions: ['*'], hash, ...issued, ...made }],
    audit_log: [
      { id: id(24), ...ofTeam, ...byKey, action: 'key.created', ...changed, outcome: 'done', ...made },
    ],
    numbers: [
      { ...ofTeam, id: number, phone_number: '+14155550100', pacing: '{"a": 1}', ...verified },
      { team_id: testTeam, id: testLine, phone_number: '+15005550100', is_simulated: true, ...verified },
    ],
    simulated_phones: [{ number_id: testLine, team_id: testTeam, holder: id(25), leased_until: later }],
    setup_links: [{ ...ofNumber, id: setupLink, generation: 7, ...ofToken }],
    setup_tests: [{ ...ofTeam, setup_link_id: setupLink, message_ids: [message], ticks: ['a'] }],
    devices: [{ ...ofNumber, id: device, ...claimed, ...made }],
    device_sessions: [{ ...ofNumber, ...ofPhone, poll_sequence: 3, expires_at: later, last_seen_at: at }],
    number_health: [{ ...ofNumber, state: 'offline', since: at, last_seen_at: at, sequence: 2 }],
    messages: [{ ...ofNumber, id: message, ...sent, content: 'Grüße 😀\n\\.\n', ...unconfirmed, ...made }],
    message_segments: [{ ...ofTeam, first_id: message, last_id: message, signature: hash }],
    send_queue: [{ ...ofNumber, message_id: id(26), to_handle: contact, queued_at: at }],
    in_flight: [
      {
        ...ofNumber,
        message_id: message,
        ...ofPhone,
        ...handedOut,
        poll_sequence: 3,
        seq: 1,
        leased_until: later,
      },
    ],
    hand_outs: [{ ...ofMessage, ...ofPhone, ...handedOut }],
    recent_hand_outs: [{ ...ofConversation, ordinal: 1, message_id: message, ...handedOut }],
    idempotency_keys: [{ ...ofMessage, key: 'order-1', fingerprint: hash, ...made }],
    inbound_fingerprints: [
      { ...ofNumber, fingerprint: hash, message_id: message, stored_at: at, last_call_at: at, calls_left: 1 },
    ],
    inbound_ids: [{ ...ofNumber, given_id_hash: hash, message_id: message }],
    conversations: [
      { ...ofConversation, id: message, ...opened, last_activity_at: at, last_message_id: message },
    ],
    conversation_answers: [
      { ...ofTeam, phone_number: '+14155550100', contact, message_id: message, attempt: message },
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
    contacts: [{ ...ofTeam, id: id(29), name: 'Ada', note: 'a\n', ...made, updated_at: at }],
    contact_handles: [{ ...ofTeam, contact_id: id(29), handle: contact, position: 0 }],
    contact_words: [{ ...ofTeam, contact_id: id(29), word: 'ada' }],
    erasures: [{ ...ofTeam, contact, handles: [contact], until_id: message, contact_events: 1, ...made }],
    erased_events: [ofEvent],
    media: [{ ...ofMessage, file_id: file, name: 'a.png', type: 'image/png', ...complete, ...made }],
    media_chunks: [{ ...ofMessage, file_id: file, position: 0, data: hash }],
    media_fetches: [{ ...ofMessage, url, origin: 'https://example.com', due_at: at }],
    events: [
      { ...ofNumber, id: event, type: 'message.sent', message_id: message, sequence: 1, data: '{}', ...made },
    ],
    event_feed: [ofEvent],
    feed_removals: [{ ...ofEvent, position: 1 }],
    unpublished_events: [ofEvent],
    webhooks: [{ ...ofTeam, id: webhook, url, events: ['message.sent'], secret: hash, ...made }],
    deliveries: [
      {
        ...ofEvent,
        id: delivery,
        webhook_id: webhook,
        event_type: 'message.sent',
        status: 'pending',
        ...made,
      },
    ],
    due_deliveries: [{ ...ofEvent, webhook_id: webhook, delivery_id: delivery, due_at: at, body: '{}' }],
    attempts: [
      { ...ofTeam, delivery_id: delivery, id: id(29), ...tried, response_body: Buffer.from([0, 255, 92]) },
    ],
    mails: [{ id: id(30), recipient: 'ada@example.com', body: hash, ...made, next_attempt_at: at }],
    usage_days: [{ ...ofTeam, day: '2026-11-22', direction: 'outbound', messages: 3 }],
    usage_months: [{ ...ofTeam, month, accepted: 3 }],
    usage_notices: [{ ...ofTeam, month, percent: 80, ...made }],
    holds: [
      { reason: 'restore', held_at: at, backup_taken_at: at, product_version: '0.1.0', schema_version: 27 },
    ],
  };
}
