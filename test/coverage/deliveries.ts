import type { Coverage } from './coverage-table.ts';

/** Sections 6.1 to 6.4. */
export const deliveries: Coverage = {
  '6.1 One event per change': {
    'events/every-change.slow.test.ts': [
      'each change makes exactly one event, and it one delivery for each webhook that matched then, and no other',
    ],
    'events/append-events.test.ts': ['a rollback takes event, deliveries and what waits along'],
    'device-protocol/reports.test.ts': [
      'delivered straight from polling, and from device_timeout, makes sent first',
      'on the plan free delivered moves the status and makes no event',
    ],
  },
  '6.2 {id, type, timestamp, data': {
    'device-protocol/reports.test.ts': [
      'sent and delivered: their events carry what section 6.2 lists, as the message shows it',
    ],
    'events/every-change.slow.test.ts': [
      'each change makes exactly one event, and it one delivery for each webhook that matched then, and no other',
    ],
    'webhooks/attempts.test.ts': [
      'an event is sent once, byte for byte as it is stored, and its delivery has succeeded',
    ],
    'webhooks/retries.test.ts': [
      'are four attempts of the same bytes, none before its time, and then the delivery has failed',
    ],
    'events/events.test.ts': [
      'shows the stored envelopes as they are, oldest first, page by page, each once',
    ],
    'webhooks/deliver-again.test.ts': [
      'answers 202 with a test of …, whose sample has the shape of section 6.2',
    ],
  },
  '6.2 message.received': { 'device-protocol/inbound.test.ts': ['is stored as received, with its event'] },
  '6.2 message.sent': {
    'device-protocol/reports.test.ts': [
      'sent and delivered: their events carry what section 6.2 lists, as the message shows it',
    ],
  },
  '6.2 message.delivered': {
    'device-protocol/reports.test.ts': [
      'sent and delivered: their events carry what section 6.2 lists, as the message shows it',
    ],
  },
  '6.2 message.failed': {
    'messages/cancel-message.test.ts': [
      'writes one message.failed with what section 6.2 lists, however often it is asked',
    ],
    'device-protocol/reports.test.ts': [
      'says that it may have been sent when it fails while it waits or at its second hand-out',
    ],
  },
  '6.3 One delivery per webhook': {
    'events/append-events.test.ts': [
      'writes one delivery for each webhook that wants the type, and none for the others',
      'writes for a webhook of one number only what that number does, also after it was connected again',
    ],
    'events/every-change.slow.test.ts': [
      'each change makes exactly one event, and it one delivery for each webhook that matched then, and no other',
    ],
    'webhooks/attempts.test.ts': [
      'an event is sent once, byte for byte as it is stored, and its delivery has succeeded',
      'it is a POST that says what it is, of whom and of what kind, with every signature and nothing else',
    ],
    'webhooks/retries.test.ts': [
      'are four attempts of the same bytes, none before its time, and then the delivery has failed',
    ],
    'webhooks/signatures.test.ts': [
      '1,000 contents of any kind verify with GitHub’s library and with that of Standard Webhooks',
      'openssl, keyed with the whole text of the secret, computes the same',
      'the vector that GitHub publishes comes out',
      'any flipped bit of the body is refused by both',
      'a replay after 301 seconds, or with another id, is refused',
    ],
  },
  '6.3 2xx is success. 400': {
    'platform/outbound-http/bounds.test.ts': [
      '2xx alone is success, and 600 and above are failures of the receiver',
    ],
    'webhooks/faults.test.ts': [
      '12 faults, 12 classes, and a failure of each is counted',
      'the target of a redirect is never reached',
    ],
  },
  '6.3 Where more than 100': {
    'events/fan-out.test.ts': [
      'the request that makes the event writes one row for 2,000 webhooks; each delivery is written after it, once, by several processes too',
      'the webhooks are those that matched with the event: later ones have none, those that are off a skipped one, deleted ones none',
      'teams take turns, a part at a time: many events of one do not delay that of another',
      'reaches every webhook once',
    ],
  },
  '6.3 Four attempts, 0, 10': {
    'webhooks/retries.test.ts': [
      'are four attempts of the same bytes, none before its time, and then the delivery has failed',
      'the next one waits for the end of one that runs longer, and begins then; a setting says when they are due',
      'end with the first success, which zeroes the count',
    ],
    'webhooks/delivery-schedule.test.ts': ['attempt …, begun … ms after the first, is followed at …'],
    'webhooks/faults.test.ts': ['12 faults, 12 classes, and a failure of each is counted'],
    'platform/config.test.ts': ['need nothing: an empty environment has defaults for all of them'],
  },
  '6.3 An attempt that still': {
    'webhooks/retries.test.ts': [
      'the next one waits for the end of one that runs longer, and begins then; a setting says when they are due',
      'what a process has had in hand for 20 s longer than an attempt may take is made again, and not before',
    ],
    'webhooks/leases.test.ts': [
      'an attempt (…) that a stop breaks off is in the log, counts as none, and is made again by whoever comes',
      'a process that wakes up after the end of its lease sends nothing: the webhook may be off, or elsewhere, by then',
      'a … of an attempt whose delivery is in other hands by then is logged, and changes nothing',
    ],
    'webhooks/delivery-kills.slow.test.ts': [
      '…: every event arrives, and none that was answered 200 is given up',
    ],
  },
  '6.3 failure_count counts consecutive failed': {
    'webhooks/disabling.test.ts': [
      'disables, of 50 that fail at once exactly the tenth; nothing begins afterwards; owners and admins get one mail',
      'the mail has the two calls that enable the webhook and replay what it missed: pasted, they deliver it all',
      'is counted in a row: nine failures, a success and nine failures leave it on',
      'does not count what began before it was last enabled',
    ],
    'webhooks/claims.test.ts': [
      'what is being counted is not taken by others, though its lease ends meanwhile',
      'a fault of our own is tried again, and does not count: ten of them disable nothing',
      'of a webhook that fails a second claim takes nothing while the first one is being made',
      'nor where it came too late by a moment, and its first one is another: of the claims of a burst one at most takes one',
    ],
    'webhooks/retries.test.ts': ['from the third failure in a row on there is one attempt at a time'],
    'webhooks/leases.test.ts': [
      'a failure of before the webhook got another url does not count, and its delivery is tried again',
      'a success of before the webhook was switched off is one; a failure leaves the delivery skipped',
    ],
    'webhooks/sweep.test.ts': [
      'skips what met the switching off of its webhook, and neither manual attempts nor what waits for others',
    ],
    'events/append-events.test.ts': [
      'writes the delivery of a webhook that is off as skipped, and nothing that is due',
    ],
    'database/webhook-invariants.test.ts': ['is off with ten failures in a row, and has no eleventh'],
  },
  '6.3 First attempts, later ones': {
    'webhooks/slots.test.ts': [
      'of a webhook 128 first attempts, 32 later ones, 16 replays and 8 single ones are in hand at a time, over all processes',
    ],
    'webhooks/claims.test.ts': [
      'nothing is taken for a team that has all its places in this process, and something for all others',
    ],
    'webhooks/fairness.slow.test.ts': [
      '20 receivers that hang and 2,000 due deliveries of one team delay no first attempt of another',
      'failures that wait to be counted keep no success of another team waiting',
      'a claim reads as many rows of a webhook as it has places, however many wait',
    ],
  },
  '6.3 Each attempt is in': {
    'webhooks/retries.test.ts': ['an attempt is in the log within a second of its answer'],
  },
  '6.3 Receivers verify the signature': {
    'e2e/receivers.slow.test.ts': [
      '… takes what Ownline sends, as it is printed, and refuses what others send',
      'openssl finds the signature of the header over the bytes that arrived, with the command of the page',
      'webhook listen shows each event once it is signed right, and answers 401 otherwise (section 10.2)',
    ],
  },
  '6.3 Where a webhook may': {
    'webhooks/create-webhook.test.ts': ['refuses every other address at once, with param url (section 6.5)'],
    'webhooks/update-webhook.test.ts': [
      'refuses what a new webhook could not have either, with the field at fault, and changes nothing',
    ],
    'webhooks/faults.test.ts': ['what was answered is kept with its status'],
  },
  '6.4 What was missed can': {
    'webhooks/manual-attempts.test.ts': [
      'a replay brings what was skipped, once, and nothing that succeeded',
      'goes to a webhook that is off, and switches nothing on',
      'while a rotation runs receivers with either secret verify; after 24 hours only the next one does',
    ],
    'webhooks/signatures.test.ts': [
      'while a rotation runs receivers with either secret verify every header that is theirs',
    ],
    'webhooks/create-webhook.test.ts': ['answers 201 with the seven fields, the secret among them'],
    'webhooks/webhook-secrets.test.ts': [
      'are in no row of any table, neither as text nor as bytes',
      'are in no answer but the one that made them',
    ],
    'webhooks/rotate-secret.test.ts': [
      'shows the next secret once; both sign from then on',
      'finish lets the next one take over at once, and answers the webhook',
      'a second rotation meanwhile is 409, and changes nothing; so is a finish where none runs',
      'is finished by itself after 24 hours, not before: then another one can begin',
    ],
  },
};
