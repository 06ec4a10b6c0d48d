import type { Coverage } from './coverage-table.ts';

/** Sections 2.7, 3.4 and 4.4, and what section 8 says of webhooks. */
export const webhooks: Coverage = {
  '2.7 id': {
    'webhooks/create-webhook.test.ts': ['answers 201 with the seven fields, the secret among them'],
  },
  '2.7 url': {
    'webhooks/create-webhook.test.ts': [
      'takes https to a name, and http to a literal address that is allowed, and shows what was sent',
    ],
  },
  '2.7 events': {
    'webhooks/create-webhook.test.ts': ['folds events that are repeated, and refuses none and unknown ones'],
  },
  '2.7 phone_number': {
    'webhooks/create-webhook.test.ts': ['takes a number of the team, a pending one included, and no other'],
  },
  '2.7 secret': {
    'webhooks/create-webhook.test.ts': ['answers 201 with the seven fields, the secret among them'],
    'webhooks/webhook-secrets.test.ts': [
      'are in no row of any table, neither as text nor as bytes',
      'are in no answer but the one that made them',
    ],
  },
  '2.7 active': {
    'webhooks/list-webhooks.test.ts': [
      'shows the eight fields of each, oldest first, those included that are off, and never a secret',
    ],
  },
  '2.7 failure_count': {
    'webhooks/update-webhook.test.ts': [
      'active true zeroes failure_count and begins a generation, also where it is on',
      'a new url zeroes failure_count, begins a generation and gets what is pending; the same one does nothing',
    ],
  },
  '2.7 last_triggered_at': {
    'webhooks/attempts.test.ts': [
      'an event is sent once, byte for byte as it is stored, and its delivery has succeeded',
    ],
  },
  '2.7 next_secret_takes_over_at': {
    'webhooks/rotate-secret.test.ts': [
      'while it runs the webhook says when the next one takes over, in the list too: not after 24 hours, a finish or before',
    ],
  },
  '2.7 created_at': {
    'webhooks/list-webhooks.test.ts': [
      'shows the eight fields of each, oldest first, those included that are off, and never a secret',
    ],
  },
  '3.4 active, or not: by': {
    'webhooks/update-webhook.test.ts': [
      'active false skips what is pending at once, but not a manual attempt that was asked for',
      'active true zeroes failure_count and begins a generation, also where it is on',
    ],
    'webhooks/disabling.test.ts': [
      'disables, of 50 that fail at once exactly the tenth; nothing begins afterwards; owners and admins get one mail',
    ],
    'database/webhook-invariants.test.ts': ['is off exactly where it says since when and by whom'],
  },
  '4.4 A key needs webhooks:manage': {
    'http/access-matrix.slow.test.ts': [
      'lets each permission do what it names and nothing else, and * everything',
    ],
    'webhooks/list-webhooks.test.ts': [
      'shows viewers what they may see, and changes nothing for them (section 5.3)',
    ],
  },
  '4.4 POST /v1/webhooks {url, events': {
    'webhooks/create-webhook.test.ts': [
      'answers 201 with the seven fields, the secret among them',
      'makes … of … at once on …, and answers the others 402',
      'is refused to a member who loses the role while it waits',
    ],
  },
  '4.4 GET /v1/webhooks': {
    'webhooks/list-webhooks.test.ts': [
      'is an empty list for a team without webhooks',
      'shows the eight fields of each, oldest first, those included that are off, and never a secret',
    ],
  },
  '4.4 GET /v1/webhooks/:id': {
    'webhooks/list-webhooks.test.ts': [
      'shows the eight fields of each, oldest first, those included that are off, and never a secret',
      'answers 404 for an id that is none',
    ],
  },
  '4.4 PUT /v1/webhooks/:id {url?, events': {
    'webhooks/update-webhook.test.ts': [
      'changes each field by itself and answers the webhook as in the list',
    ],
  },
  '4.4 DELETE /v1/webhooks/:id': {
    'webhooks/delete-webhook.test.ts': [
      'answers {deleted: true}; what is pending vanishes, of every lane, and the webhook is gone',
      'takes a long backlog with it before it answers',
      'answers one of several deletions at once 200, the others 404, and makes a place in the plan',
    ],
  },
  '4.4 GET …/deliveries status, event_type': {
    'webhooks/list-deliveries.test.ts': [
      'shows exactly what every combination of filters leaves, newest first, in pages of any size',
      'refuses other values with the parameter at fault',
    ],
  },
  '4.4 GET …/deliveries/:delivery_id': {
    'webhooks/list-deliveries.test.ts': [
      'is the item of the list, with its attempts, oldest first',
      'shows the latest 50 attempts, and counts them all',
      'is 404 for an id that is none, of another webhook, and of another team’s',
    ],
  },
  '4.4 POST …/deliveries/:delivery_id/redeliver': {
    'webhooks/deliver-again.test.ts': ['…: answers 202 with it, pending, and one attempt is due at once'],
  },
  '4.4 POST …/replay {since, until': {
    'webhooks/deliver-again.test.ts': [
      '…: queues each once, oldest first, behind live ones, and nothing that succeeded',
    ],
  },
  '4.4 POST …/test': {
    'webhooks/deliver-again.test.ts': [
      'answers 202 with a test of …, whose sample has the shape of section 6.2',
    ],
  },
  '4.4 POST …/rotate-secret': {
    'webhooks/rotate-secret.test.ts': ['shows the next secret once; both sign from then on'],
  },
  '4.4 POST …/rotate-secret/finish': {
    'webhooks/rotate-secret.test.ts': [
      'finish lets the next one take over at once, and answers the webhook',
      'of many at once, one rotates and one finishes',
    ],
  },
  '4.4 url is one of': {
    'webhooks/create-webhook.test.ts': [
      'refuses every other address at once, with param url (section 6.5)',
      'folds events that are repeated, and refuses none and unknown ones',
      'takes message.delivered on free, too',
      'takes a number of the team, a pending one included, and no other',
    ],
  },
  '4.4 PUT: {} changes nothing': {
    'webhooks/update-webhook.test.ts': [
      'changes nothing with {}, an empty body and none, and notes nothing',
      'active false skips a long backlog whole before it answers',
      'active true zeroes failure_count and begins a generation, also where it is on',
      'a new url zeroes failure_count, begins a generation and gets what is pending; the same one does nothing',
      'waits for whoever has the webhook in hand, and changes what they left',
    ],
  },
  '4.4 A delivery is one': {
    'webhooks/list-deliveries.test.ts': [
      'shows the ten fields of each; a pending one says when its next attempt is due',
    ],
    'webhooks/delivery-page-bounds.slow.test.ts': [
      '…, before the tables were ever analyzed',
      'finds everything behind short and empty pages: 2 failed of 270,000',
    ],
  },
  '4.4 An attempt: id (att_…)': {
    'webhooks/list-deliveries.test.ts': [
      'is the item of the list, with its attempts, oldest first',
      'says nothing of an error where an attempt succeeded',
      'shows 16 KB of whatever was answered as text: what is no UTF-8 as U+FFFD',
    ],
  },
  '4.4 redeliver makes one attempt': {
    'webhooks/deliver-again.test.ts': [
      'works while the webhook is off, and does not switch it on',
      'is 409 while one is pending, also for all but one of many at once',
      'is 409 for a test, whose sample is not kept, and 404 for one of another webhook',
    ],
  },
  '4.4 replay takes events from': {
    'webhooks/deliver-again.test.ts': [
      'takes the events from since on and before until',
      'reads moments with an offset, and refuses what is none, or an end before the beginning',
      'is 409 while the webhook is off, and queues nothing',
      'leaves out what succeeded before it was sent again and failed',
      'queues a long backlog in rounds, in order, each once, also where two ask at once',
    ],
  },
  '4.4 test makes one attempt': {
    'webhooks/deliver-again.test.ts': [
      'works while the webhook is off, any number of times, and writes no event',
      '…: queues each once, oldest first, behind live ones, and nothing that succeeded',
    ],
  },
  '8 webhooks': {
    'webhooks/create-webhook.test.ts': ['makes … of … at once on …, and answers the others 402'],
    'docs.test.ts': ['the limits of every plan are those in the table of section 8'],
  },
};
