import type { EntryKind, Envelope, Row } from './history.ts';
import { signedHeaders } from './signature.ts';

/** A fault that Ownline could have. It is put into the record of a correct run, and the checker has to find it. */
export interface SeededFault {
  readonly name: string;
  /** The rule whose violation the checker has to report. */
  readonly rule: Rule;
  readonly sow: (rows: readonly Row[]) => Row[];
}

type RowTest<D extends EntryKind> = (row: Row<D>) => boolean;
type Sow = SeededFault['sow'];

/** Picks the middle one of the matching rows. @throws Error if no row matches, so that the fault cannot be put in */
function pick<D extends EntryKind>(rows: readonly Row[], kind: D, fits: RowTest<D> = () => true): Row<D> {
  const found = rows.filter((row): row is Row<D> => row.kind === kind && fits(row as Row<D>));
  const picked = found[Math.floor(found.length / 2)];
  if (!picked) throw new Error(`The recorded history has no row "${kind}" for the fault to change.`);
  return picked;
}

/** Removes a row. */
function lost<D extends EntryKind>(kind: D, fits?: RowTest<D>): Sow {
  return (rows) => {
    const picked = pick(rows, kind, fits);
    return rows.filter((row) => row !== picked);
  };
}

/** Changes fields of a row. */
function changed<D extends EntryKind>(
  kind: D,
  change: (row: Row<D>) => Partial<Row<D>>,
  fits?: RowTest<D>,
): Sow {
  return (rows) => {
    const picked = pick(rows, kind, fits);
    return rows.map((row) => (row === picked ? { ...picked, ...change(picked) } : row));
  };
}

/** Adds a row like another one, with changed fields. */
function repeated<D extends EntryKind>(kind: D, change: Partial<Row<D>> = {}, fits?: RowTest<D>): Sow {
  return (rows) => {
    const picked = pick(rows, kind, fits);
    return rows.flatMap((row) => (row === picked ? [row, { ...picked, ...change }] : [row]));
  };
}

const isOutbound = (row: Row<'message_listed'>) => row.direction === 'outbound';
const isSent = (row: Row<'message_listed'>) => row.status === 'sent';
const isOfAll = (row: Row<'webhook_created'>) => row.number === null;
const isWalked = (row: Row<'feed_read'>) => row.reader === 'walker' && row.events.length > 1;
const rotated = ({ events }: Row<'feed_read'>) => ({ events: [...events.slice(1), ...events.slice(0, 1)] });
const isFollowed = (row: Row<'feed_read'>) => row.reader === 'follower';
const withoutKills = (rows: readonly Row[]) => rows.filter((row) => row.kind !== 'process_killed');
const dataOf = (envelope: Envelope) => envelope.data as Envelope;

/** The faults by rule and name, which the checker has to find before its verdict counts. A rule needs one. */
const faults = {
  refused: { 'a sound request was refused': refused },
  phone_stopped: { 'a phone got a stop': stopped },
  key_with_two_messages: {
    'one key made two messages': repeated('send_accepted', { message: 'msg_other' }),
  },
  text_with_two_messages: {
    'one inbound text became two messages': repeated('inbound_accepted', { message: 'msg_other' }),
  },
  texts_in_one_message: {
    'two inbound texts became one message': repeated('inbound_accepted', { text_id: 'another' }),
  },
  message_lost: {
    'an accepted message vanished': lost('message_listed', isOutbound),
    'an inbound text was lost': lost('message_listed', (row) => !isOutbound(row)),
  },
  message_listed_twice: { 'a message was listed twice': repeated('message_listed') },
  message_without_cause: {
    'a message has no sender': repeated('message_listed', { message: 'msg_other' }),
  },
  message_changed: {
    'a message was handed out with the text of another': changed('handed_out', () => ({
      text: 'Another text',
    })),
  },
  message_unfinished: {
    'a message stayed in the queue': changed('message_listed', () => ({ status: 'queued' }), isOutbound),
  },
  handed_out_twice: { 'a message was handed out twice': repeated('handed_out') },
  handed_out_of_order: { 'two messages of a conversation changed places': neighboursSwapped },
  report_lost: {
    'a report of sent was forgotten': changed('message_listed', () => ({ status: 'failed' }), isSent),
  },
  counted_wrong: {
    'a message was counted twice': changed('number_counted', (row) => ({
      messages_today: row.messages_today + 1,
    })),
  },
  event_lost: { 'an event was lost': eventLost },
  event_doubled: { 'one change made two events': eventAdded({}) },
  event_without_cause: {
    'an event came from nothing': eventAdded({ type: 'message.delivered', sequence: 2 }),
    'a file was given up without a kill': fileGivenUp,
  },
  event_changed: {
    'an event has the text of another message': eventChanged((envelope) => ({
      data: { ...dataOf(envelope), content: 'Another text' },
    })),
  },
  event_of_another_team: {
    'an event was given to another team': eventChanged(() => ({ team_id: 'team_other' })),
  },
  sequence_broken: { 'sequence numbers in the wrong order': eventChanged(() => ({ sequence: 2 })) },
  bytes_differ: { 'two attempts with different bytes': bytesDiffer },
  signature_forged: {
    'a forged signature': headerChanged({ 'x-service-signature': `sha256=${'0'.repeat(64)}` }),
    'a second signature that is forged': headerChanged({ 'webhook-signature': `v1,${'A'.repeat(43)}=` }),
  },
  delivery_unreadable: {
    'half a body': changed('delivery_received', ({ body }) => ({ body: body.slice(0, body.length / 2) })),
  },
  delivered_to_stranger: {
    'delivered to a webhook that does not match': changed('webhook_created', () => ({ events: [] }), isOfAll),
  },
  delivery_lost: { 'a webhook never got an event': deliveryLost },
  delivery_repeated: { 'a delivered event came again without a kill': deliveryRepeated },
  feed_skipped: { 'the feed skipped an event': feedSkipped },
  feed_repeated: {
    'the feed showed an event twice': repeated(
      'feed_read',
      {},
      (row) => isFollowed(row) && row.events.length > 0,
    ),
  },
  feed_out_of_order: { 'the feed put an event behind its reader': changed('feed_read', rotated, isWalked) },
} satisfies Readonly<Record<string, Readonly<Record<string, Sow>>>>;

/** Rules of the checker, named after their violations. */
export type Rule = keyof typeof faults;

export const seededFaults: readonly SeededFault[] = Object.entries(faults).flatMap(([rule, named]) =>
  Object.entries(named).map(([name, sow]) => ({ name, rule: rule as Rule, sow })),
);

function refused(rows: readonly Row[]): Row[] {
  const { at, team, key } = pick(rows, 'send_accepted');
  return [...rows, { kind: 'send_refused', at, team, key, answer: '409' }];
}

function stopped(rows: readonly Row[]): Row[] {
  const { at, number } = pick(rows, 'handed_out');
  return [...rows, { kind: 'poll_stopped', at, number, reason: 'superseded' }];
}

function neighboursSwapped(rows: readonly Row[]): Row[] {
  const later = pick(rows, 'handed_out');
  const sooner = rows.find(
    (row) => row.kind === 'handed_out' && row.number === later.number && row.to === later.to,
  );
  if (!sooner || sooner === later) throw new Error('The conversation has only one message to swap.');
  return rows.map((row) => (row === later ? sooner : row === sooner ? later : row));
}

/** Picks the id of an event of this type that webhooks received. */
function eventIn(rows: readonly Row[], type: string): string {
  const received = pick(rows, 'delivery_received', (row) => row.headers['x-service-event'] === type);
  return received.headers['webhook-id'] ?? '';
}

function withoutEventOnPage(row: Row<'feed_read'>, id: string): Row {
  return { ...row, events: row.events.filter((envelope) => envelope.id !== id) };
}

function eventLost(rows: readonly Row[]): Row[] {
  const id = eventIn(rows, 'message.sent');
  return rows
    .filter((row) => row.kind !== 'delivery_received' || row.headers['webhook-id'] !== id)
    .map((row) => (row.kind === 'feed_read' ? withoutEventOnPage(row, id) : row));
}

function feedSkipped(rows: readonly Row[]): Row[] {
  const id = eventIn(rows, 'message.sent');
  return rows.map((row) => (row.kind === 'feed_read' && isFollowed(row) ? withoutEventOnPage(row, id) : row));
}

/** Adds an event to the feed only. It is derived from an event of a message that was sent and not delivered. */
function eventAdded(change: Envelope): Sow {
  return (rows) => {
    const sent = pick(rows, 'message_listed', isSent);
    const tells = (envelope: Envelope) =>
      envelope.type === 'message.sent' && dataOf(envelope).id === sent.message;
    return rows.map((row) => {
      const envelope = row.kind === 'feed_read' ? row.events.find(tells) : undefined;
      if (row.kind !== 'feed_read' || !envelope) return row;
      const data = { ...dataOf(envelope), ...(change.data as Envelope | undefined) };
      return { ...row, events: [...row.events, { ...envelope, id: 'evt_other', ...change, data }] };
    });
  };
}

function fileGivenUp(rows: readonly Row[]): Row[] {
  const { message } = pick(rows, 'message_listed', isSent);
  const { key } = pick(rows, 'send_accepted', (row) => row.message === message);
  const media = 'https://example.com/file.jpg';
  const withFile = withoutKills(rows).map((row) =>
    row.kind === 'send_requested' && row.key === key ? { ...row, media } : row,
  );
  const data = { status: 'failed', error_code: 'media_unavailable' };
  return eventAdded({ type: 'message.failed', sequence: 2, data })(withFile);
}

/** Changes an event in the feed and, with valid signatures, in every delivery. */
function eventChanged(changeOf: (envelope: Envelope) => Envelope): Sow {
  return (rows) => {
    const id = eventIn(rows, 'message.received');
    const change = (envelope: Envelope) =>
      envelope.id === id ? { ...envelope, ...changeOf(envelope) } : envelope;
    return rows.map((row) => {
      if (row.kind === 'feed_read') return { ...row, events: row.events.map(change) };
      if (row.kind !== 'delivery_received' || row.headers['webhook-id'] !== id) return row;
      const envelope = change(JSON.parse(Buffer.from(row.body, 'base64').toString('utf8')));
      return signed(rows, row, Buffer.from(JSON.stringify(envelope)));
    });
  };
}

function headerChanged(headers: Readonly<Record<string, string>>): Sow {
  return changed('delivery_received', (row) => ({ headers: { ...row.headers, ...headers } }));
}

function signed(rows: readonly Row[], row: Row<'delivery_received'>, body: Buffer): Row<'delivery_received'> {
  const { secret } = pick(rows, 'webhook_created', ({ webhook }) => webhook === row.webhook);
  const { 'webhook-id': id = '', 'x-service-event': type = '' } = row.headers;
  const timestamp = String(Math.floor(row.at / 1_000));
  return { ...row, body: body.toString('base64'), headers: signedHeaders(secret, id, type, body, timestamp) };
}

/** Adds an attempt with valid signatures right after an existing one. */
function withRequest(rows: readonly Row[], made: Row<'delivery_received'>, body: Buffer): Row[] {
  const request = rows.length;
  const again = { ...signed(rows, made, body), request };
  const answer: Row = { kind: 'delivery_answered', at: made.at, request, webhook: made.webhook, status: 200 };
  const after = rows.findIndex((row) => row.kind === 'delivery_answered' && row.request === made.request);
  return rows.toSpliced(after + 1, 0, again, answer);
}

function bytesDiffer(rows: readonly Row[]): Row[] {
  const taken = pick(rows, 'delivery_received');
  return withRequest(rows, taken, Buffer.concat([Buffer.from(taken.body, 'base64'), Buffer.from(' ')]));
}

function deliveryLost(rows: readonly Row[]): Row[] {
  const { webhook, headers } = pick(rows, 'delivery_received');
  const isOf = (row: Row<'delivery_received'>) =>
    row.webhook === webhook && row.headers['webhook-id'] === headers['webhook-id'];
  return rows.filter((row) => row.kind !== 'delivery_received' || !isOf(row));
}

function deliveryRepeated(rows: readonly Row[]): Row[] {
  const calm = withoutKills(rows);
  const answered = pick(calm, 'delivery_answered', (row) => row.status === 200);
  const taken = pick(calm, 'delivery_received', (row) => row.request === answered.request);
  return withRequest(calm, taken, Buffer.from(taken.body, 'base64'));
}
