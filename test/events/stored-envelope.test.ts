import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { MessageEventType } from '#contract/event.ts';
import { type EnvelopeColumns, readStoredEnvelope, storeEnvelope } from '#server/events/stored-envelope.ts';
import { type EventId, type MessageId, publicId, type TeamId } from '#server/platform/ids/ids.ts';

const columns = {
  team_id: '019abcde-0000-7000-8000-000000000001' as TeamId,
  id: '019abce0-1111-7000-8000-000000000002' as EventId,
  type: 'message.sent',
  message_id: '019abcdf-2222-7000-8000-000000000003' as MessageId,
} as const satisfies EnvelopeColumns;

const ofMessage = {
  id: publicId('msg', columns.message_id),
  from: '+14155550100',
  to: '+14155550101',
  content: 'Grüße 👋 \u2028 "\\\n',
  media_url: null,
};
const outbound = { created_at: '2025-11-25T21:15:31.234Z', sent_at: '2025-11-25T21:16:32.399Z' };
const dataOf: Readonly<Record<MessageEventType, object>> = {
  'message.received': { ...ofMessage, received_at: outbound.created_at },
  'message.sent': { ...ofMessage, status: 'sent', ...outbound },
  'message.delivered': {
    ...ofMessage,
    status: 'delivered',
    ...outbound,
    delivered_at: '2025-11-25T21:16:32.402Z',
  },
  'message.failed': {
    ...ofMessage,
    status: 'failed',
    ...outbound,
    sent_at: null,
    failed_at: '2025-11-25T21:16:32.402Z',
    error_code: 'device_error',
    error_message: 'The iPhone could not send it.',
    may_have_been_sent: false,
  },
};

function envelope({ id, type, team_id }: EnvelopeColumns, data: unknown): string {
  return JSON.stringify({
    id: publicId('evt', id),
    type,
    timestamp: '2025-11-25T21:16:32.401Z',
    data,
    team_id: publicId('team', team_id),
    api_version: 'v1',
    sequence: 1,
  });
}

describe('an event is stored in a dictionary code and delivered byte by byte (decision 0035)', () => {
  for (const [type, data] of Object.entries(dataOf) as [MessageEventType, object][]) {
    it(`the stored envelope of ${type} leaves out what other columns have, and is read back with the same bytes (§6.2/envelope)`, () => {
      const row = { ...columns, type };
      const whole = envelope(row, data);
      const stored = storeEnvelope(row, whole);
      assert.equal(readStoredEnvelope(row, stored), whole);
      for (const id of [row.id, row.team_id].map((uuid) => uuid.slice(-6)))
        assert.ok(!stored.includes(id), stored);
      assert.ok(
        whole.length - stored.length > 300,
        `${whole.length} characters became ${stored.length}: ${stored}`,
      );
    });
  }

  it('an envelope that was stored with the first dictionary is read unchanged', () => {
    const whole = envelope(columns, dataOf['message.sent']);
    const stored =
      '\u0001\u0003+14155550100\u0004+14155550101\u0005Grüße 👋 \u2028 \\"\\\\\\n\u0006\u0007\u001032.399Z"\u00021}';
    assert.equal(readStoredEnvelope(columns, stored), whole);
    assert.equal(storeEnvelope(columns, whole), stored);
  });

  it('an envelope that was stored as a whole is read unchanged', () => {
    const whole = envelope(columns, dataOf['message.failed']);
    assert.equal(readStoredEnvelope(columns, whole), whole);
  });

  it('a dictionary character that this release does not know is an error', () => {
    assert.throws(() => readStoredEnvelope(columns, '\u0001\u001f'), /unknown placeholder/);
  });

  it('every generated envelope is read back with the same bytes (§6.2/envelope)', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\u0001',
        '","to":"',
        '},"team_id":"',
        publicId('evt', columns.id),
        '2025-11-25T21:16:',
      ),
    );
    const data = fc.dictionary(texts, fc.oneof(texts, fc.jsonValue({ maxDepth: 1 })), { maxKeys: 4 });
    const rows = fc.record({
      message_id: fc.constantFrom(columns.message_id, null),
      type: fc.constantFrom('message.sent' as const, 'contact.opted_out' as const),
    });
    fc.assert(
      fc.property(data, rows, (said, of) => {
        const row = { ...columns, ...of };
        const whole = envelope(row, said);
        assert.equal(readStoredEnvelope(row, storeEnvelope(row, whole)), whole);
      }),
    );
  });
});
