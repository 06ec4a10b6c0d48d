import type { Coverage } from './coverage-table.ts';

/** Section 4. */
export const endpoints: Coverage = {
  '4.1 Teams are made with': {
    'e2e/processes.slow.test.ts': [
      'a team and a key are made, the key works, and is useless within a second of being revoked',
    ],
  },
  '4.1 GET /v1/team': {
    'teams/team.test.ts': ['shows the five fields of the team'],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.1 PUT /v1/team {name}, 1': {
    'teams/team.test.ts': [
      'PUT changes the name, answers the whole team, and nothing else of it moves',
      'takes names of 1 to 100 code points, as they are',
      'refuses other names and other fields with the field at fault, and changes nothing',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.1 PUT /v1/team with {}': {
    'teams/team.test.ts': ['{}, an empty body and none change nothing and answer the team'],
    'teams/members.test.ts': [
      '{}, an empty body and none change and note nothing and answer the Member, an owner too',
      'the same role again changes and notes nothing',
    ],
  },
  '4.2 POST /v1/numbers/verify {phone_number}': {
    'numbers/verify-number.test.ts': [
      'answers with a message and the setup link; the number exists at once, unverified',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.2 GET /v1/numbers': {
    'numbers/list-numbers.test.ts': [
      'is an empty list for a team without numbers',
      'shows all fields, strings without a value empty and times without one null',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.2 PUT /v1/numbers/:id {label?, status': {
    'numbers/update-number.test.ts': ['answers with the five fields of the changed number'],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.2 DELETE /v1/numbers/:id': {
    'numbers/delete-number.test.ts': [
      'answers {deleted: true}; the phone is told to stop and the number is gone',
      'answers one of several deletions at once 200, the others 404',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.2 POST /v1/numbers/:id/reconnect': {
    'numbers/reconnect-number.test.ts': [
      'gives a link; the old phone works until the new one’s first poll; id, queue and history stay',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.2 GET /v1/numbers/:id': {
    'teams/team.test.ts': [
      'shows what the list shows of the number, and on_unconfirmed',
      'shows a pending number: strings without a value empty, times without one null, on_unconfirmed fail',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.2 setup_url is {app_url}/setup/<token>, to': {
    'numbers/verify-number.test.ts': [
      'answers with a message and the setup link; the number exists at once, unverified',
      'gives links that work for 24 hours',
      'the setup link begins with APP_URL, wherever the service listens (specification section 4.2)',
    ],
    'device-protocol/purge-setup-links.test.ts': [
      '2,500 links that no phone used are deleted 30 days after their end; the one of a phone stays, and its token works',
    ],
  },
  '4.2 verify makes the number': {
    'numbers/verify-number.test.ts': [
      'answers with a message and the setup link; the number exists at once, unverified',
      'becomes verified with the first poll',
      'refuses a number that is verified already, here or in another team',
      'makes a new link for a number that is pending here; the old one, and what it gave, end',
      'is not blocked by a number pending elsewhere: the first poll wins, the other phone is told taken',
      'that meets the first poll of the phone and comes second is a conflict, and the phone goes on',
      'that meets the first poll of the phone and comes first ends what the old link gave',
    ],
  },
  '4.2 A number that stays': {
    'device-protocol/sessions.test.ts': ['a number that stays pending for 7 days vanishes'],
    'numbers/verify-number.test.ts': ['counts pending numbers against the plan: 402 with limit and current'],
  },
  '4.2 label 0 to 100': {
    'numbers/update-number.test.ts': [
      'takes labels of 0 to 100 code points',
      'takes on_unconfirmed fail and retry_once',
      'changes nothing with {} and answers 200',
    ],
    'device-protocol/unconfirmed.test.ts': [
      'a hand-out that is never reported is unconfirmed when its lease ends',
    ],
  },
  "4.2 DELETE fails the number's": {
    'numbers/delete-number.test.ts': [
      'answers {deleted: true}; the phone is told to stop and the number is gone',
      'fails what is queued with number_removed, gives it back, and leaves what a phone holds alone',
      'takes at most a round of a long queue with it, and the sweep fails the rest',
    ],
  },
  '4.2 reconnect is for a': {
    'numbers/reconnect-number.test.ts': [
      'gives a link; the old phone works until the new one’s first poll; id, queue and history stay',
      'ends earlier links of the number',
    ],
    'device-protocol/sessions.test.ts': ['the old phone works until the first poll of the new one'],
  },
  '4.3 POST /v1/messages/send {to, from': {
    'messages/send.test.ts': [
      'answers 202 with the queued message, which its phone gets; the next poll makes it sent',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.3 GET /v1/messages/:id': {
    'messages/get-message.test.ts': ['shows every field of a queued message, those without a value as null'],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.3 GET /v1/messages from, to': {
    'messages/list-messages.test.ts': [
      'shows exactly what every combination of filters leaves, all fields of each, newest first, in pages of any size',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.3 POST /v1/messages/:id/cancel': {
    'messages/cancel-message.test.ts': [
      'fails a queued message with cancelled and answers it with every field of section 2.6',
      'takes no field and no parameter',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.3 from is a verified': {
    'messages/send.test.ts': [
      'refuses a sender that is unknown, pending, paused or of another team',
      'refuses to equal to from',
    ],
  },
  '4.3 media_url null or': {
    'messages/send.test.ts': [
      'takes media_url null and empty as none',
      'refuses media_url: 402 with limit 0 on free, 400 on starter and higher',
      'refuses a media_url that is no https address, on every plan',
    ],
  },
  '4.3 Order. Messages of one': {
    'numbers/pause-number.test.ts': [
      'keeps what is queued and hands it out, in order, to the held poll when it ends',
    ],
    'messages/accept-sends.slow.test.ts': ['keeps the order of acceptance within a batch'],
    'e2e/fleet.slow.test.ts': [
      'hands each of 4,000 messages out once, starves no phone and keeps the order of each conversation',
    ],
  },
  '4.3 Idempotency-Key, 1 to 255': {
    'messages/idempotency.test.ts': [
      'takes 1 to 255 visible ASCII characters and nothing else',
      'keeps a key for 24 hours and takes it anew afterwards',
      'keeps keys of teams apart',
      'replays the 202 of the first request, byte for byte, and says so',
      'says queued in a replay, whatever became of the message',
      'makes one message of 100 requests at once, and costs one unit',
      'refuses the same key with other fields',
      'compares what was meant, not how it was written',
      'leaves the key free after a refusal',
      'gets its 202, though the first took the last place of the month',
      'gets its 202, though the number was deleted between the two',
      'with other fields is told so, and not of the month that the first used up',
    ],
    'http/database-away.test.ts': [
      'a send whose commit is in doubt is answered 500 and says so; its key makes the repeat safe',
    ],
  },
  '4.3 The list: from any': {
    'numbers/list-numbers.test.ts': [
      'counts a send that waited over midnight on the day of its created_at, which is also its place in the list',
    ],
    'messages/list-messages.test.ts': [
      'shows exactly what every combination of filters leaves, all fields of each, newest first, in pages of any size',
      'takes 1 to 100 as limit, 50 where none is given',
      'an empty cursor is none',
      'says received of inbound messages and every other status of outbound ones: the rest excludes itself',
    ],
    'messages/list-messages-refusals.test.ts': ['refuses other values with the parameter at fault'],
  },
  '4.3 Pages. cursor in an': {
    'messages/list-messages.test.ts': [
      'begins after any position: an id of the list, one of another team, one that never was',
      'knows the end exactly: has_more is false on the last page, be it full or not',
    ],
    'messages/list-messages-refusals.test.ts': ['refuses a cursor that is no id of a message'],
    'messages/list-messages-while-they-arrive.slow.test.ts': [
      'shows every message that was there at the start once, newest first, over two processes',
      'a page that met its bound neither repeats nor leaves out what lies there',
    ],
    'messages/page-bounds.slow.test.ts': [
      '…, analyzed, planned for its values',
      'a full page ends with its cursor, a short one where it stopped reading',
      'finds everything behind short and empty pages: 3 delivered of a million',
    ],
  },
  '4.3 Repeated query parameters, and': {
    'messages/list-messages-refusals.test.ts': [
      'refuses a parameter that is sent twice',
      'refuses a + that arrived as a space and says how to write it',
      'refuses a value whose percent-encoding is none, or not of UTF-8',
    ],
  },
  '4.3 Cancelling: queued only, else': {
    'messages/cancel-message.test.ts': [
      'fails a queued message with cancelled and answers it with every field of section 2.6',
      'refuses a message that is not queued any more with 409, says how it stands and changes nothing',
      'is never handed out; what was sent after it is',
      'against a held poll: the phone has it or it is cancelled, never both, over two processes',
    ],
  },
  '4.3 waiting_reason of a queued': {
    'messages/get-message.test.ts': [
      'says why a queued message waits: earlier message, busy, paused, offline',
    ],
    'teams/team.test.ts': [
      'is phone_offline once the last poll is more than 5 minutes ago, and not before',
      'says what a person could act on first: a pause before an absence, an absence before a busy phone',
      'knows numbers apart: what waits for another phone of the team holds nothing back',
    ],
  },
  '4.5 GET /v1/events after, wait': {
    'events/events.test.ts': [
      'shows the stored envelopes as they are, oldest first, page by page, each once',
    ],
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
  },
  '4.5 Every event of the': {
    'events/events.test.ts': ['shows nothing of another team, wherever one begins'],
    'events/feed-order.test.ts': [
      'shows every event once, and those of a message in their order, though transactions end in any order',
      'an event whose transaction ends late gets a place behind those that were shown meanwhile',
      'a publisher that is killed in the middle of a batch leaves it to the next one, whole',
      'two publishers at once give each event one place',
    ],
  },
  '4.5 cursor is the id': {
    'events/events.test.ts': [
      'is empty for a team without events, with "" for its cursor',
      'shows the stored envelopes as they are, oldest first, page by page, each once',
      'takes 1 to 100 events on a page, 50 without limit',
    ],
  },
  '4.5 Without after it begins': {
    'events/events.test.ts': [
      'refuses an after that is no event of the team, and a wait or limit out of bounds, by name',
      'waits for the place of an event that has none yet, and says so where nobody gives it one',
    ],
  },
  '4.5 wait, 0 to 25': {
    'events/events.test.ts': [
      'holds a request until an event comes, on every process, and asks the database nothing meanwhile',
      'answers an empty page with after as its cursor once wait is over',
      'answers what it holds at once when the process stops',
      'answers within a sweep where the notification of an event was lost',
    ],
    'events/feed-poll-registry.test.ts': [
      'end together when the process stops, and one that comes later at once',
    ],
  },
  '4.5 A process holds 20': {
    'events/events.test.ts': [
      'holds 20 requests of a team; one more is 429, and has the place of one that left',
    ],
    'events/feed-poll-registry.test.ts': [
      'are 20 of a team and 2,000 in all; whoever ends gives the place back, once',
    ],
  },
  '4.5 What was held is': {
    'events/events.test.ts': [
      'shows nothing to a key that was revoked while its request was held',
      'shows nothing to a member who was removed while their request was held',
    ],
  },
};
