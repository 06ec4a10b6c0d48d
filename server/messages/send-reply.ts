import type { MeanwhileAnswer, SendReplyRequest } from '#contract/conversation.ts';
import type { AcceptedMessage } from '#contract/message.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Principal } from '#server/http/route.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { AppError, invalid } from '#server/platform/app-error.ts';
import { firstIdAt, type MessageId, parseId } from '#server/platform/ids.ts';
import { hasIdempotencyKey } from './accept-sends.ts';
import { claimConversation, findAnswer, releaseClaim } from './answer-store.ts';
import { endWaiting, type OfPhone } from './conversation-store.ts';
import { findMessage } from './message-store.ts';
import { type SendBatcher, sendMessage } from './send-message.ts';
import { conversationMessageView, findSenders } from './senders.ts';

type Services = Runtime & { readonly sends: SendBatcher };

/** After this time a claim without a message has failed, and another reply may take it. */
const claimMs = 30_000;

/**
 * Sends a person's reply, or that of a key that answers for the team (specification section 12.4). It claims the
 * conversation before it is accepted, so of two replies at an instant one is refused. Then the conversation waits no
 * longer, unless the contact wrote after `seen_message_id`. A send that refuses no answer leaves a fresh claim of another
 * sender alone.
 * @throws AppError 409 with an answer that is later than the writer saw; any error of a send
 */
export async function sendReply(
  services: Services,
  principal: Principal,
  { seen_message_id, seen_answer_id = seen_message_id, answer_anyway, ...input }: SendReplyRequest,
  idempotencyKey?: string,
): Promise<{ readonly message: AcceptedMessage; readonly replayed: boolean }> {
  const { database, clock, ids, logger } = services;
  const { teamId, id: by } = principal;
  const conversation = { teamId, phoneNumber: input.from, contact: contactOf(input.to) };
  const seenId = readSeen('seen_message_id', seen_message_id);
  const seenAnswerId = readSeen('seen_answer_id', seen_answer_id);
  const messageId = ids.next('msg');
  const freshId = firstIdAt(clock.nowMs() - claimMs);
  const checkedId = answer_anyway ? null : (seenAnswerId ?? null);
  const attempt = { messageId, by, idempotencyKey: idempotencyKey ?? null };
  const claim = { ...conversation, ...attempt, freshId, seenId: checkedId };
  const isClaimed = await claimConversation(database.pool, claim);
  // A repeat of a send is answered as before, also after another answer.
  if (!isClaimed && checkedId !== null && !(await hasIdempotencyKey(services, teamId, idempotencyKey))) {
    const refusal = await answeredMeanwhile(services, conversation, freshId);
    if (refusal) throw refusal;
  }
  const release = (storedId: MessageId | null) =>
    isClaimed ? releaseClaim(database.pool, { ...conversation, messageId, storedId }) : undefined;
  const sent = await sendMessage(services, { ...principal, messageId }, input, idempotencyKey).catch(
    async (error: unknown) => {
      // After another error the message may be stored.
      if (error instanceof AppError && error.status < 500) await release(null);
      throw error;
    },
  );
  const sentId = parseId('msg', sent.message.id) ?? messageId;
  const untilId = seenId !== undefined && seenId < sentId ? seenId : sentId;
  try {
    if (sent.replayed) await release(sentId);
    await endWaiting(database.pool, { ...conversation, untilId: untilId as MessageId });
  } catch (error) {
    logger.warn({ err: error, message: sent.message.id }, 'a conversation waits although it was answered');
  }
  return sent;
}

/** @returns undefined if the sender does not say what they saw; a lower id than any if they saw no message */
function readSeen(
  param: 'seen_message_id' | 'seen_answer_id',
  seen: string | null | undefined,
): string | undefined {
  if (seen === undefined) return undefined;
  const id = seen === null ? firstIdAt(0) : parseId('msg', seen);
  if (id === undefined) throw invalid(param, `${param} must be the id of a message.`);
  return id;
}

/**
 * Returns the refusal of a reply: another one was accepted meanwhile, or is being accepted.
 * @returns undefined if there is none. Then the send that had claimed the conversation was refused, or the team never had
 * the number
 */
async function answeredMeanwhile(
  { database: { pool } }: Runtime,
  conversation: OfPhone,
  freshId: string,
): Promise<AppError | undefined> {
  const { teamId } = conversation;
  const answer = await findAnswer(pool, conversation);
  if (!answer) return undefined;
  const find = (messageId: MessageId) => findMessage(pool, { teamId, messageId });
  const last = await find(answer.message_id);
  const isBeingSent = !last && answer.message_id >= freshId;
  const earlier = isBeingSent ? null : answer.previous_id;
  const message = last ?? (earlier && (await find(earlier)));
  const senders = await findSenders(pool, teamId, [message?.sent_by ?? null]);
  const shown = message ? conversationMessageView(message, senders.get(message.sent_by)) : null;
  return new AppError(
    'conflict',
    `This conversation ${shown ? 'was answered meanwhile' : 'is being answered at this moment'}. ` +
      'Read the answer. If your reply is still needed, send it with answer_anyway.',
    { details: { answer: { message: shown } satisfies MeanwhileAnswer } },
  );
}
