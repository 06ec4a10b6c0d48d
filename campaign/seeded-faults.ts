import type { EntryKind, Envelope, Row } from './history.ts';
import { signedHeaders } from './signature.ts';
import type { Rule } from './violation.ts';

/** A fault that Ownline could have. It is put into the recorded history of a correct run, and the checker has to find it. */
export interface SeededFault {
  readonly name: string;
  /** The rule whose violation the checker has to report. */
  readonly rule: Rule;
  readonly sow: (rows: readonly Row[]) => Row[];
}

/** Faults that the checker has to find before its verdict counts. */
export const seededFaults: readonly SeededFault[] = [
  {
    name: 'an accepted message vanished',
    rule: 'message_lost',
    sow: (rows) => without(rows, pick(rows, 'message_listed', isOutbound)),
  },
  {
    name: 'an inbound text was lost',
    rule: 'message_lost',
    sow: (rows) =>
      without(
        rows,
        pick(rows, 'message_listed', (row) => row.direction === 'inbound'),
      ),
  },
  {
    name: 'one key made two messages',
    rule: 'key_with_two_messages',
    sow: (rows) => repeated(rows, 'send_accepted', (row) => ({ ...row, message: 'msg_other' })),
  },
  {
    name: 'one inbound text became two messages',
    rule: 'text_with_two_messages',
    sow: (rows) => repeated(rows, 'inbound_accepted', (row) => ({ ...row, message: 'msg_other' })),
  },
  {
    name: 'two inbound texts became one message',
    rule: 'texts_in_one_message',
    sow: (rows) => repeated(rows, 'inbound_accepted', (row) => ({ ...row, text_id: 'another' })),
  },
  {
    name: 'a message was listed twice',
    rule: 'message_listed_twice',
    sow: (rows) => repeated(rows, 'message_listed', (row) => row),
  },
  {
    name: 'a sound request was refused',
    rule: 'refused',
    sow: (rows) => {
      const { at, team, key } = pick(rows, 'send_accepted');
      return [...rows, { kind: 'send_refused', at, team, key, answer: '409' }];
    },
  },
  {
    name: 'a phone got a stop',
    rule: 'phone_stopped',
    sow: (rows) => {
      const { at, number } = pick(rows, 'handed_out');
      return [...rows, { kind: 'poll_stopped', at, number, reason: 'superseded' }];
    },
  },
  {
    name: 'a message has no sender',
    rule: 'message_without_cause',
    sow: (rows) => repeated(rows, 'message_listed', (row) => ({ ...row, message: 'msg_other' })),
  },
  {
    name: 'a message was handed out twice',
    rule: 'handed_out_twice',
    sow: (rows) => repeated(rows, 'handed_out', (row) => row),
  },
  {
    name: 'a message was handed out with the text of another',
    rule: 'message_changed',
    sow: (rows) => replaced(rows, 'handed_out', (row) => ({ ...row, text: 'The text of another message' })),
  },
  {
    name: 'two messages of a conversation changed places',
    rule: 'handed_out_of_order',
    sow: (rows) => withNeighboursSwapped(rows),
  },
  {
    name: 'a message stayed in the queue',
    rule: 'message_unfinished',
    sow: (rows) => replaced(rows, 'message_listed', (row) => ({ ...row, status: 'queued' }), isOutbound),
  },
  {
    name: 'a report of sent was forgotten',
    rule: 'report_lost',
    sow: (rows) =>
      replaced(
        rows,
        'message_listed',
        (row) => ({ ...row, status: 'failed' }),
        (row) => row.status === 'sent',
      ),
  },
  {
    name: 'a message was counted twice',
    rule: 'counted_wrong',
    sow: (rows) =>
      replaced(rows, 'number_counted', (row) => ({ ...row, messages_today: row.messages_today + 1 })),
  },
  {
    name: 'an event was lost',
    rule: 'event_lost',
    sow: (rows) => withoutEvent(rows, eventIn(rows, 'message.sent')),
  },
  {
    name: 'one change made two events',
    rule: 'event_doubled',
    sow: (rows) => withEvent(rows, (envelope) => ({ ...envelope, id: 'evt_other' })),
  },
  {
    name: 'an event came from nothing',
    rule: 'event_without_cause',
    sow: (rows) =>
      withEvent(rows, (envelope) => ({
        ...envelope,
        id: 'evt_other',
        type: 'message.delivered',
        sequence: 2,
      })),
  },
  {
    name: 'a file was given up without a kill',
    rule: 'event_without_cause',
    sow: (rows) => {
      const { message } = pick(rows, 'message_listed', isSent);
      const { key } = pick(rows, 'send_accepted', (row) => row.message === message);
      const withFile = rows
        .filter((row) => row.kind !== 'process_killed')
        .map((row) =>
          row.kind === 'send_requested' && row.key === key
            ? { ...row, media: 'https://example.com/file.jpg' }
            : row,
        );
      return withEvent(withFile, (envelope) => ({
        ...envelope,
        id: 'evt_other',
        type: 'message.failed',
        sequence: 2,
        data: { ...dataOf(envelope), status: 'failed', error_code: 'media_unavailable' },
      }));
    },
  },
  {
    name: 'an event has the text of another message',
    rule: 'event_changed',
    sow: (rows) =>
      withEventChanged(rows, (envelope) => ({
        ...envelope,
        data: { ...dataOf(envelope), content: 'Another text' },
      })),
  },
  {
    name: 'an event was given to another team',
    rule: 'event_of_another_team',
    sow: (rows) => withEventChanged(rows, (envelope) => ({ ...envelope, team_id: 'team_other' })),
  },
  {
    name: 'sequence numbers in the wrong order',
    rule: 'sequence_broken',
    sow: (rows) => withEventChanged(rows, (envelope) => ({ ...envelope, sequence: 2 })),
  },
  {
    name: 'two attempts with different bytes',
    rule: 'bytes_differ',
    sow: (rows) => {
      const taken = pick(rows, 'delivery_received');
      return withRequest(rows, taken, Buffer.concat([Buffer.from(taken.body, 'base64'), Buffer.from(' ')]));
    },
  },
  {
    name: 'half a body',
    rule: 'delivery_unreadable',
    sow: (rows) =>
      replaced(rows, 'delivery_received', (row) => ({
        ...row,
        body: row.body.slice(0, row.body.length / 2),
      })),
  },
  {
    name: 'a forged signature',
    rule: 'signature_forged',
    sow: (rows) =>
      replaced(rows, 'delivery_received', (row) => ({
        ...row,
        headers: { ...row.headers, 'x-service-signature': `sha256=${'0'.repeat(64)}` },
      })),
  },
  {
    name: 'a second signature that is forged',
    rule: 'signature_forged',
    sow: (rows) =>
      replaced(rows, 'delivery_received', (row) => ({
        ...row,
        headers: { ...row.headers, 'webhook-signature': `v1,${'A'.repeat(43)}=` },
      })),
  },
  {
    name: 'delivered to a webhook that does not match',
    rule: 'delivered_to_stranger',
    sow: (rows) => {
      const subscribed = pick(rows, 'webhook_created', (row) => row.number === null);
      return replaced(
        rows,
        'webhook_created',
        (row) => ({ ...row, events: [] }),
        (row) => row === subscribed,
      );
    },
  },
  {
    name: 'a webhook never got an event',
    rule: 'delivery_lost',
    sow: (rows) => {
      const { webhook, headers } = pick(rows, 'delivery_received');
      const isOf = (row: Row<'delivery_received'>) =>
        row.webhook === webhook && row.headers['webhook-id'] === headers['webhook-id'];
      return rows.filter((row) => row.kind !== 'delivery_received' || !isOf(row));
    },
  },
  {
    name: 'a delivered event came again without a kill',
    rule: 'delivery_repeated',
    sow: (rows) => {
      const calm = rows.filter((row) => row.kind !== 'process_killed');
      const answered = pick(calm, 'delivery_answered', (row) => row.status === 200);
      const taken = pick(calm, 'delivery_received', (row) => row.request === answered.request);
      return withRequest(calm, taken, Buffer.from(taken.body, 'base64'));
    },
  },
  {
    name: 'the feed skipped an event',
    rule: 'feed_skipped',
    sow: (rows) => {
      const id = eventIn(rows, 'message.sent');
      return rows.map((row) => (isFollowed(row) ? withoutEventOnPage(row, id) : row));
    },
  },
  {
    name: 'the feed showed an event twice',
    rule: 'feed_repeated',
    sow: (rows) =>
      repeated(
        rows,
        'feed_read',
        (row) => row,
        (row) => isFollowed(row) && row.events.length > 0,
      ),
  },
  {
    name: 'the feed put an event behind its reader',
    rule: 'feed_out_of_order',
    sow: (rows) =>
      replaced(
        rows,
        'feed_read',
        (row) => ({ ...row, events: [...row.events.slice(1), ...row.events.slice(0, 1)] }),
        (row) => row.reader === 'walker' && row.events.length > 1,
      ),
  },
];

type RowTest<D extends EntryKind> = (row: Row<D>) => boolean;

const isOutbound = (row: Row<'message_listed'>) => row.direction === 'outbound';
const isFollowed = (row: Row): row is Row<'feed_read'> =>
  row.kind === 'feed_read' && row.reader === 'follower';

/** Picks the middle one of the matching rows. @throws Error where no row matches, so that the fault cannot be put in */
function pick<D extends EntryKind>(rows: readonly Row[], kind: D, fits: RowTest<D> = () => true): Row<D> {
  const found = rows.filter((row): row is Row<D> => row.kind === kind && fits(row as Row<D>));
  const picked = found[Math.floor(found.length / 2)];
  if (!picked) throw new Error(`The recorded history has no row "${kind}" for the fault to change.`);
  return picked;
}

function without(rows: readonly Row[], gone: Row): Row[] {
  return rows.filter((row) => row !== gone);
}

function replaced<D extends EntryKind>(
  rows: readonly Row[],
  kind: D,
  change: (row: Row<D>) => Row,
  fits?: RowTest<D>,
): Row[] {
  const picked = pick(rows, kind, fits);
  return rows.map((row) => (row === picked ? change(picked) : row));
}

function repeated<D extends EntryKind>(
  rows: readonly Row[],
  kind: D,
  change: (row: Row<D>) => Row,
  fits?: RowTest<D>,
): Row[] {
  const picked = pick(rows, kind, fits);
  return rows.flatMap((row) => (row === picked ? [row, change(picked)] : [row]));
}

function withNeighboursSwapped(rows: readonly Row[]): Row[] {
  const later = pick(rows, 'handed_out');
  const sooner = pick(rows, 'handed_out', (row) => isBefore(rows, row, later));
  return rows.map((row) => (row === later ? sooner : row === sooner ? later : row));
}

function isBefore(rows: readonly Row[], row: Row<'handed_out'>, later: Row<'handed_out'>): boolean {
  const isOf = (other: Row) =>
    other.kind === 'handed_out' && other.number === later.number && other.to === later.to;
  return row !== later && isOf(row) && rows.find(isOf) === row;
}

const dataOf = (envelope: Envelope) => envelope.data as Envelope;

/** Picks the id of an event of this type that webhooks received. */
function eventIn(rows: readonly Row[], type: string): string {
  const received = pick(rows, 'delivery_received', (row) => row.headers['x-service-event'] === type);
  return received.headers['webhook-id'] ?? '';
}

function withoutEventOnPage(row: Row<'feed_read'>, id: string): Row {
  return { ...row, events: row.events.filter((envelope) => envelope.id !== id) };
}

function withoutEvent(rows: readonly Row[], id: string): Row[] {
  return rows
    .filter((row) => row.kind !== 'delivery_received' || row.headers['webhook-id'] !== id)
    .map((row) => (row.kind === 'feed_read' ? withoutEventOnPage(row, id) : row));
}

const isSent = (row: Row<'message_listed'>): boolean => row.status === 'sent';

/** Adds an event to the feed only. It is derived from an event of a message that was sent and not delivered. */
function withEvent(rows: readonly Row[], change: (envelope: Envelope) => Envelope): Row[] {
  const sent = pick(rows, 'message_listed', isSent);
  const tells = (envelope: Envelope) =>
    envelope.type === 'message.sent' && dataOf(envelope).id === sent.message;
  return rows.map((row) => {
    const envelope = row.kind === 'feed_read' ? row.events.find(tells) : undefined;
    return row.kind === 'feed_read' && envelope ? { ...row, events: [...row.events, change(envelope)] } : row;
  });
}

/** Changes an event in the feed and, with valid signatures, in every delivery. */
function withEventChanged(rows: readonly Row[], change: (envelope: Envelope) => Envelope): Row[] {
  const id = eventIn(rows, 'message.received');
  const secrets = new Map(
    rows.flatMap((row) => (row.kind === 'webhook_created' ? [[row.webhook, row.secret]] : [])),
  );
  return rows.map((row) => {
    if (row.kind === 'feed_read')
      return {
        ...row,
        events: row.events.map((envelope) => (envelope.id === id ? change(envelope) : envelope)),
      };
    if (row.kind !== 'delivery_received' || row.headers['webhook-id'] !== id) return row;
    const envelope = change(JSON.parse(Buffer.from(row.body, 'base64').toString('utf8')));
    return signed(row, Buffer.from(JSON.stringify(envelope)), secrets.get(row.webhook) ?? '');
  });
}

function signed(row: Row<'delivery_received'>, body: Buffer, secret: string): Row<'delivery_received'> {
  const { 'webhook-id': id = '', 'x-service-event': type = '' } = row.headers;
  return { ...row, body: body.toString('base64'), headers: signedHeaders(secret, id, type, body, row.at) };
}

/** Adds an attempt with valid signatures right after an existing one. */
function withRequest(rows: readonly Row[], made: Row<'delivery_received'>, body: Buffer): Row[] {
  const { secret } = pick(rows, 'webhook_created', (row) => row.webhook === made.webhook);
  const request = rows.length;
  const again = { ...signed(made, body, secret), request };
  const answer: Row = { kind: 'delivery_answered', at: made.at, request, webhook: made.webhook, status: 200 };
  const after = rows.findIndex((row) => row.kind === 'delivery_answered' && row.request === made.request);
  return [...rows.slice(0, after + 1), again, answer, ...rows.slice(after + 1)];
}
