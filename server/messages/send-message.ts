import { createHash } from 'node:crypto';
import { Counter } from 'prom-client';
import { type AcceptedMessage, contentMaxCharacters, type SendMessageRequest } from '#contract/message.ts';
import { testLine } from '#contract/test-line.ts';
import { again, GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { mediaLink } from '#server/media/media-store.ts';
import { findUpload, uploadOrigin } from '#server/media/upload-store.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { findOptOutByHash, type OptOutRow } from '#server/opt-outs/opt-out-store.ts';
import { type AppError, invalid, notFound, unavailable } from '#server/platform/app-error.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import {
  type KeyId,
  type MemberId,
  type MessageId,
  parseId,
  publicId,
  type TeamId,
} from '#server/platform/ids.ts';
import { validateUrl } from '#server/platform/outbound-http/validate-url.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import { startOfNextMonth } from '#server/platform/time/calendar.ts';
import { planLimitExceeded } from '#server/teams/team/plans.ts';
import { acceptSends, notStored, type SendOutcome, throwOutcomeUnknown } from './accept-sends.ts';
import { missingUpload, type SendMedia, type SendRow } from './accept-statement.ts';
import { sendsWaitingMax } from './limits.ts';
import { acceptedView } from './message.ts';
import { findMessage } from './message-store.ts';

export interface SendBatcher {
  readonly accept: (row: SendRow) => Promise<SendOutcome>;
}

/**
 * Accepts sends in a group commit. Each team has its own queue, and a batch takes from all of them round robin. Once
 * 5,000 sends wait, a team that has at least its equal share of them gets 503 with retry-after.
 */
export function createSendBatcher(services: Runtime): SendBatcher {
  const countSends = createSendCounter(services.metrics);
  const run = async (rows: readonly SendRow[]) => {
    const outcomes = await acceptSends(services, rows);
    failpoint('sends accepted');
    countSends(rows, outcomes);
    return outcomes;
  };
  const commit = new GroupCommit<SendRow, SendOutcome>({
    name: 'sends',
    services,
    run,
    runAlone: async (row) => {
      try {
        return (await run([row]))[0] ?? again;
      } catch (error) {
        const outcome = notStored(services, error);
        if (!outcome) throw error;
        countSends([row], [outcome]);
        return outcome;
      }
    },
    teamOf: (row) => row.teamId,
    lockOf: (row) => `${row.teamId} ${row.from}`,
    windowMs: 0,
    waitingMax: sendsWaitingMax,
    refuse: () =>
      unavailable('Too many messages are waiting to be accepted. Repeat the request in a moment.'),
  });
  return { accept: (row) => commit.add(row).catch(throwOutcomeUnknown) };
}

/** Counts sends by outcome, except those from the test line: no metric of messages counts test messages. */
function createSendCounter(
  metrics: Metrics,
): (rows: readonly SendRow[], outcomes: readonly (SendOutcome | typeof again)[]) => void {
  const sends = new Counter({
    name: 'ownline_sends_total',
    help: 'Sends by outcome: accepted, replayed, or the reason of the refusal.',
    labelNames: ['verdict'] as const,
    registers: [metrics],
  });
  return (rows, outcomes) => {
    const live = outcomes.filter((_outcome, index) => rows[index]?.from !== testLine);
    const decided = live.filter((outcome) => outcome !== again);
    for (const [verdict, of] of Map.groupBy(decided, (outcome) => outcome.verdict))
      sends.inc({ verdict }, of.length);
  };
}

type Services = Runtime & { readonly sends: SendBatcher };

/**
 * Accepts a message (specification section 4.3).
 * @param sender the team, and the key or member that sends, null for the server itself; isTest for a test key;
 * messageId if the message's id was made before
 * @param input validated against its schema
 * @param media a file of this server, which no plan refuses; by default that of media_url or media_id
 * @returns the answer, and whether the request repeats an earlier one with the same Idempotency-Key
 * @throws AppError 400 (param to, from, content, media_url, media_id or Idempotency-Key), 402 at the month's limit or for media
 * that the plan does not include, 503
 */
export async function sendMessage(
  services: Services,
  sender: {
    readonly teamId: TeamId;
    readonly id: KeyId | MemberId | null;
    readonly isTest?: boolean;
    readonly messageId?: MessageId;
  },
  input: SendMessageRequest,
  idempotencyKey?: string,
  ownMedia?: SendMedia,
): Promise<{ readonly message: AcceptedMessage; readonly replayed: boolean }> {
  const { teamId, id: sentBy } = sender;
  const contact = contactOf(input.to);
  checkContent(input, contact);
  const hasMedia = input.media_id || input.media_url;
  const media = ownMedia ?? (hasMedia ? await readMedia(services, teamId, input) : null);
  const outcome = await services.sends.accept({
    teamId,
    messageId: sender.messageId,
    sentBy,
    from: input.from,
    to: input.to,
    contact,
    content: input.content,
    media,
    idempotencyKey: idempotencyKey ?? null,
    fingerprint: idempotencyKey === undefined ? null : fingerprint(input),
  });
  switch (outcome.verdict) {
    case 'accepted':
      return { message: acceptedView(newMessage(input, media, outcome)), replayed: false };
    case 'replayed':
      return { message: await replay(services, teamId, outcome), replayed: true };
    case 'opted_out':
      throw await optedOut(services, teamId, input.to, contact);
    default:
      if (outcome.verdict === 'from_unregistered' && sender.isTest)
        throw invalid('from', `A test key sends from ${testLine}. Use that, or a live key.`);
      throw refusal(services.config, outcome.verdict, outcome, input);
  }
}

/**
 * Matches a character that is visible in a bubble. U+2800, the Braille blank, is excluded: Unicode calls it a symbol,
 * but fonts draw nothing. Joiners and selectors of emoji do not count, the emoji do.
 */
const visibleCharacter = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]/u;

function checkContent(input: SendMessageRequest, contact: string): void {
  if (!visibleCharacter.test(input.content)) {
    throw invalid(
      'content',
      `content must hold 1 to ${contentMaxCharacters} characters, and at least one visible character: ` +
        'white space, invisible and control characters alone make an empty bubble. Send a text that can be seen.',
    );
  }
  if (contact === contactOf(input.from))
    throw invalid('to', 'to must be another number than from: a phone cannot answer itself.');
}

/**
 * Finds the upload of media_id, or validates media_url without a look-up (specification section 6.5): each fetch checks
 * the addresses of its host.
 */
async function readMedia(
  services: Runtime,
  teamId: TeamId,
  { media_id, media_url }: SendMessageRequest,
): Promise<SendRow['media']> {
  const { config, clock, database } = services;
  if (media_id && media_url) throw invalid('media_id', 'Send media_id or media_url, not both.');
  if (media_id) {
    const id = parseId('med', media_id);
    const upload = id && (await findUpload(database.hot, { teamId, id, at: clock.expiryNow() }));
    if (!upload) return { urlOf: () => '', origin: missingUpload };
    return { urlOf: (message) => mediaLink(services, message, upload.name), origin: uploadOrigin(id) };
  }
  if (!media_url) return null;
  const validated = validateUrl(media_url, config.egressAllowed);
  if ('refused' in validated) throw invalid('media_url', validated.refused);
  return { urlOf: () => media_url, origin: validated.target.origin };
}

function newMessage(
  input: SendMessageRequest,
  media: SendRow['media'],
  { messageId, createdAt }: SendOutcome,
) {
  if (messageId === null) throw new Error('an accepted send has no message id');
  return {
    id: messageId,
    to_handle: input.to,
    from_handle: input.from,
    content: input.content,
    media_url: media?.urlOf(messageId) ?? null,
    created_at: createdAt,
  };
}

async function replay(services: Services, teamId: TeamId, outcome: SendOutcome): Promise<AcceptedMessage> {
  const message =
    outcome.messageId && (await findMessage(services.database.hot, { teamId, messageId: outcome.messageId }));
  if (!message) throw notFound('message');
  return acceptedView(message);
}

/**
 * Hashes the parsed fields, so that neither their order nor the form of a missing file (absent, null or empty) makes a
 * difference.
 */
function fingerprint(input: SendMessageRequest): Buffer {
  const fields = JSON.stringify([
    input.to,
    input.from,
    input.content,
    input.media_id || input.media_url || null,
  ]);
  return createHash('sha256').update(fields).digest();
}

/**
 * The refusal of a send to a contact that opted out. Its text says when and how the contact opted out, and what to do.
 * After an erasure the text no longer says how. If the contact opted in meanwhile, the text advises to send again.
 */
async function optedOut(
  { database, secrets }: Runtime,
  teamId: TeamId,
  to: string,
  contact: string,
): Promise<AppError> {
  const contactHash = secrets.contactHash(teamId, contact);
  const optOut = await findOptOutByHash(database.hot, { teamId, contactHash });
  if (!optOut) return invalid('to', `${to} had opted out, and opted in just now. Send the message again.`);
  const at = optOut.opted_out_at.toISOString();
  return invalid(
    'to',
    `${to} opted out of this team on ${at}${causeOf(optOut)}. Send them nothing until they ` +
      `text START, or until you have their consent in another way and call DELETE /v1/opt-outs/${encodeURIComponent(contact)}.`,
    { opted_out_at: at },
  );
}

function causeOf({ contact, message_id, phone_number, request_id }: OptOutRow<string | null>): string {
  if (contact === null) return '; their data was erased';
  return message_id
    ? ` with the message ${publicId('msg', message_id)} to ${phone_number}`
    : ` by PUT /v1/opt-outs/:contact (request ${request_id})`;
}

function refusal(
  config: Runtime['config'],
  verdict: Exclude<SendOutcome['verdict'], 'accepted' | 'replayed' | 'opted_out'>,
  { createdAt, monthlyLimit, used }: SendOutcome,
  { from, to, media_id }: SendMessageRequest,
): AppError {
  switch (verdict) {
    case 'key_reused':
      return invalid(
        'Idempotency-Key',
        'This Idempotency-Key was used for a request with other fields. Use a new one.',
      );
    case 'from_unregistered':
      return invalid(
        'from',
        `${from} is not a number of this team. Connect it with POST /v1/numbers/verify.`,
      );
    case 'from_pending':
      return invalid(
        'from',
        `${from} is not verified yet: open its setup link on the iPhone and run the shortcut once. A simulated iPhone is verified within seconds: try again.`,
      );
    case 'from_paused':
      return invalid('from', `${from} is paused. Set its status to active with PUT /v1/numbers/:id.`);
    case 'to_not_fictional':
      return invalid(
        'to',
        `${from} is simulated and sends only to numbers that are reserved for fiction, such as +14155550123. ` +
          `${to} is not one of them. Send to one, or send from the number of an iPhone.`,
      );
    case 'media_missing':
      return invalid(
        'media_id',
        'The team has no file with this media_id; it may have expired. Upload the file again with POST /v1/media.',
      );
    case 'media_not_in_plan':
      return planLimitExceeded(
        config,
        {
          reason: 'Media need the plan starter or higher.',
          remedy: `Send without ${media_id ? 'media_id' : 'media_url'}`,
          limit: 0,
          current: 0,
        },
        { param: media_id ? 'media_id' : 'media_url' },
      );
    case 'not_stored':
      return unavailable('The message could not be stored, so it was not accepted. Repeat the request.', {
        status: 500,
      });
    case 'over_limit': {
      const resetsAt = startOfNextMonth(createdAt).toISOString();
      const [reason, remedy] =
        monthlyLimit === 0
          ? [
              "The team's monthly limit is 0 messages: it can send none.",
              'Ask the operator of this server to raise the limit',
            ]
          : [`The team's monthly limit, ${monthlyLimit}, is used up.`, `Wait until ${resetsAt}`];
      return planLimitExceeded(config, {
        reason,
        remedy,
        limit: monthlyLimit,
        current: used,
        resets_at: resetsAt,
      });
    }
  }
}
