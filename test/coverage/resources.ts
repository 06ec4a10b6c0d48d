import type { Coverage } from './coverage-table.ts';

/** Section 2. */
export const resources: Coverage = {
  '2.1 Ids are TypeIDs: a': {
    'platform/clock.test.ts': [
      'sort in the order they were made, many of them in one millisecond',
      'are read back, and nothing else is taken for one',
      'have a lower bound for each moment',
    ],
    'http/router.test.ts': ['finds nothing behind an id that cannot be one, and never fails over it'],
  },
  '2.1 Timestamps are ISO 8601': {
    'numbers/list-numbers.test.ts': [
      'shows all fields, strings without a value empty and times without one null',
    ],
    'database/clock-sync.test.ts': [
      "a process takes the database's time, whatever its own clock says (specification section 2.1)",
    ],
    'database/clock-steps.slow.test.ts': [
      'is shown and not followed, ahead or back by a minute, an hour, a day or a year, and over when the clock is set right',
    ],
  },
  '2.1 A string that has': {
    'numbers/list-numbers.test.ts': [
      'shows all fields, strings without a value empty and times without one null',
    ],
    'messages/get-message.test.ts': ['shows every field of a queued message, those without a value as null'],
    'http/hostile-bodies.test.ts': ['keeps null a null in answers'],
  },
  '2.1 Phone numbers are E.164': {
    'messages/send.test.ts': ['refuses what is missing or no E.164 number, naming the field'],
    'numbers/verify-number.test.ts': [
      'refuses what is no E.164 number, missing or not a text, with param phone_number',
    ],
    'device-protocol/inbound.test.ts': ['a phone number becomes E.164, any other handle stays as it is'],
  },
  '2.1 Characters are Unicode code': {
    'teams/plain-names.test.ts': [
      'refuses control characters and direction marks in every name, with 400 and the field; takes every script',
    ],
    'messages/send.test.ts': ['counts content in code points: 5,000 are accepted, 5,001 are refused'],
    'numbers/update-number.test.ts': ['takes labels of 0 to 100 code points'],
    'http/hostile-bodies.test.ts': [
      'refuses each of these with 400 and the field at fault',
      'refuses on every operation, and in each of its fields, what no field can be, and changes nothing',
    ],
  },
  '2.1 Bodies are JSON objects': {
    'http/hostile-bodies.test.ts': [
      'refuses each of these with 400 and the field at fault',
      'refuses bytes that are not UTF-8',
      'answers 415 for a body of another Content-Type',
      'lets the last of two equal keys count',
      'takes an empty body with a JSON Content-Type as none',
      'refuses on every operation, and in each of its fields, what no field can be, and changes nothing',
    ],
  },
  '2.1 A field or query': {
    'http/hostile-bodies.test.ts': ['names the unknown field and lists the known ones'],
    'http/router.test.ts': ['refuses query parameters that an operation does not take, by name'],
    'messages/list-messages-refusals.test.ts': [
      'refuses a parameter that it does not know, by name, and lists those it knows (section 2.1)',
    ],
  },
  '2.2 id': { 'teams/team.test.ts': ['shows the five fields of the team'] },
  '2.2 name': {
    'teams/team.test.ts': [
      'takes names of 1 to 100 code points, as they are',
      'refuses other names and other fields with the field at fault, and changes nothing',
    ],
  },
  '2.2 plan': {
    'teams/team.test.ts': ['shows each plan with its limit, or the one that was set for the team'],
    'messages/send.test.ts': ['refuses media_url: 402 with limit 0 on free, 400 on starter and higher'],
  },
  '2.2 monthly_message_limit': {
    'teams/team.test.ts': ['shows each plan with its limit, or the one that was set for the team'],
    'usage/quota.test.ts': [
      'refuses the message after the last with limit, current, upgrade_url and resets_at',
    ],
  },
  '2.2 created_at': {
    'teams/team.test.ts': ['shows the five fields of the team'],
  },
  '2.5 id': {
    'numbers/list-numbers.test.ts': [
      'shows all fields, strings without a value empty and times without one null',
    ],
  },
  '2.5 phone_number': {
    'numbers/list-numbers.test.ts': [
      'shows all fields, strings without a value empty and times without one null',
    ],
    'numbers/verify-number.test.ts': [
      'refuses what is no E.164 number, missing or not a text, with param phone_number',
    ],
  },
  '2.5 label': { 'numbers/update-number.test.ts': ['takes labels of 0 to 100 code points'] },
  '2.5 status': {
    'numbers/update-number.test.ts': [
      'answers with the five fields of the changed number',
      'refuses other values and other fields, naming the field',
    ],
    'numbers/pause-number.test.ts': ['holds back a hand-out that met it half-way'],
  },
  '2.5 verified': {
    'numbers/verify-number.test.ts': ['becomes verified with the first poll'],
    'device-protocol/sessions.test.ts': ['the first poll verifies the number and names its device'],
  },
  '2.5 device_name': {
    'device-protocol/sessions.test.ts': ['the first poll verifies the number and names its device'],
  },
  '2.5 last_seen_at': {
    'device-protocol/sessions.test.ts': ['last_seen_at follows the polls, at most 10 s behind (section 2.5)'],
    'numbers/list-numbers.test.ts': ['moves last_seen_at with the polls'],
    'messages/get-message.test.ts': [
      'says why a queued message waits: earlier message, busy, paused, offline',
    ],
    'teams/team.test.ts': ['is phone_offline once the last poll is more than 5 minutes ago, and not before'],
  },
  '2.5 messages_today': {
    'numbers/list-numbers.test.ts': [
      'counts what was accepted and received since midnight UTC, and never falls',
      'counts a send that waited over midnight on the day of its created_at, which is also its place in the list',
    ],
    'teams/team.test.ts': ['counts messages_today of this number alone; a cancelled one stays counted'],
  },
  '2.5 created_at': {
    'numbers/list-numbers.test.ts': [
      'shows all fields, strings without a value empty and times without one null',
    ],
    'numbers/reconnect-number.test.ts': [
      'gives a link; the old phone works until the new one’s first poll; id, queue and history stay',
    ],
  },
  '2.6 id': {
    'messages/send.test.ts': [
      'answers 202 with the queued message, which its phone gets; the next poll makes it sent',
    ],
  },
  '2.6 to, from': {
    'messages/get-message.test.ts': [
      'shows every field of a queued message, those without a value as null',
      'shows an inbound message as received',
    ],
  },
  '2.6 content': {
    'messages/send.test.ts': [
      'counts content in code points: 5,000 are accepted, 5,001 are refused',
      'refuses content that is empty or nothing but white space and invisible characters',
    ],
    'device-protocol/inbound.test.ts': [
      'no text is refused: what PostgreSQL cannot keep becomes U+FFFD, length and emptiness do not matter',
    ],
  },
  '2.6 media_url': {
    'messages/send.test.ts': ['takes media_url null and empty as none'],
    'messages/get-message.test.ts': ['shows every field of a queued message, those without a value as null'],
    'messages/list-messages.test.ts': [
      'shows exactly what every combination of filters leaves, all fields of each, newest first, in pages of any size',
    ],
  },
  '2.6 status': {
    'messages/get-message.test.ts': [
      'follows the message through polling and sent',
      'shows when it was delivered, where the device can tell',
      'says why a message failed, in the words of the phone too',
      'shows an inbound message as received',
    ],
    'docs.test.ts': ['every reason of failure and every step of the state table is in section 3'],
  },
  '2.6 direction': {
    'messages/get-message.test.ts': [
      'shows every field of a queued message, those without a value as null',
      'shows an inbound message as received',
    ],
  },
  '2.6 created_at, sent_at, delivered_at, failed_at': {
    'messages/get-message.test.ts': [
      'follows the message through polling and sent',
      'shows when it was delivered, where the device can tell',
      'says why a message failed, in the words of the phone too',
    ],
    'database/invariants.test.ts': ['each status has its times and reasons, and no others'],
  },
  '2.6 error_code, error_message': {
    'messages/get-message.test.ts': ['says why a message failed, in the words of the phone too'],
    'device-protocol/reports.test.ts': [
      "failed: with the phone's own words",
      'says that it may have been sent when it fails while it waits or at its second hand-out',
    ],
    'usage/quota.test.ts': [
      'does not give back what a phone had once and that expired while it waited for its second hand-out',
    ],
    'messages/cancel-message.test.ts': [
      'costs where a phone had it once: retry_once, cancelled while it waits for its second hand-out',
    ],
  },
  '2.6 waiting_reason': {
    'messages/get-message.test.ts': [
      'says why a queued message waits: earlier message, busy, paused, offline',
    ],
  },
  '2.6 may_have_been_sent': {
    'device-protocol/unconfirmed.test.ts': [
      'a repeat of the poll within 10 s of the hand-out resolves nothing; later the message is unconfirmed',
    ],
    'device-protocol/reports.test.ts': ['sent: once, however often it is said'],
  },
};
