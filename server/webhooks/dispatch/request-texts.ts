import { Type } from 'typebox';
import { type EventType, eventEnvelopes, eventTypes } from '#contract/event.ts';
import { eventExamples } from '#contract/event-examples.ts';
import { stringEnum } from '#contract/schema.ts';
import type { HeaderText, OutgoingRequestText } from '#server/http/route.ts';

const serviceSignature = '^sha256=[0-9a-f]{64}$';

/** The headers of a delivery, as attempt-delivery.ts creates them, for the API reference. */
export const deliveryHeaderTexts: readonly HeaderText[] = [
  {
    name: 'x-service-signature',
    required: true,
    description:
      '`sha256=` and the HMAC-SHA256 of the raw body in hex. The key is the whole text of the secret, with `whsec_`. Compare in constant time.',
    schema: Type.String({ pattern: serviceSignature }),
  },
  {
    name: 'x-service-signature-next',
    description: 'During a rotation: the same signature with the next secret.',
    schema: Type.String({ pattern: serviceSignature }),
  },
  {
    name: 'webhook-id',
    required: true,
    description: 'Standard Webhooks: the id of the event, equal in each repeat.',
    schema: Type.String({ pattern: '^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$' }),
  },
  {
    name: 'webhook-timestamp',
    required: true,
    description:
      'Standard Webhooks: the time of the attempt, in seconds since 1970. It is signed, so refuse an old one.',
    schema: Type.String({ pattern: '^\\d+$' }),
  },
  {
    name: 'webhook-signature',
    required: true,
    description:
      'Standard Webhooks: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. The key is the decoded base64 after `whsec_`. During a rotation a second signature, with the next secret, follows after a space.',
    schema: Type.String({ pattern: '^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)?$' }),
  },
  {
    name: 'x-service-event',
    required: true,
    description: 'The type of the event.',
    schema: stringEnum(eventTypes),
  },
  {
    name: 'x-service-test',
    description: '`1`: a test, with a sample of an event that did not happen.',
    schema: stringEnum(['1']),
  },
  {
    name: 'user-agent',
    required: true,
    description: '`Ownline/` and the version of the server.',
    schema: Type.String({ pattern: '^Ownline/' }),
  },
];

/** The summary of each event and its description. */
const texts: Readonly<Record<EventType, readonly [summary: string, description: string]>> = {
  'message.received': ['A message was received', 'An iPhone of the team received a message.'],
  'message.sent': ['A message was sent', 'The iPhone reported that it sent the message.'],
  'message.delivered': [
    'A message was delivered',
    'The iPhone reported that the message arrived. Only iPhones that can tell report it, and not on the plan free.',
  ],
  'message.failed': [
    'A message failed',
    '`error_code` says why. If `may_have_been_sent` is true, ask the recipient before you send the text again.',
  ],
  'contact.opted_out': [
    'A contact opted out',
    'The contact sent a word such as STOP, or a request opted it out. Sends to the contact are refused.',
  ],
  'contact.opted_in': [
    'A contact opted in',
    'The contact sent START, or a request opted it in. Sends to the contact are accepted again.',
  ],
  'number.offline': [
    'An iPhone went offline',
    'The iPhone has not asked for messages for 5 minutes. Its messages wait.',
  ],
  'number.online': ['An iPhone is back', 'An iPhone that was offline asks for messages again.'],
};

const handling =
  'Verify one of the signatures over the raw body, answer with a 2xx status within 5 seconds, and drop repeats by `id`. ' +
  'An attempt fails after WEBHOOK_TIMEOUT_MS, 10 seconds by default: the difference is a reserve for a slow network.';

/** The requests that receivers of webhooks get, one for each event type. */
export const deliveryRequestTexts: readonly OutgoingRequestText[] = eventTypes.map((type) => ({
  type,
  summary: texts[type][0],
  description: `${texts[type][1]}\n\n${handling}`,
  body: eventEnvelopes[type],
  example: eventExamples[type],
}));
