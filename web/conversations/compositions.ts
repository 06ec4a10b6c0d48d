import type { MeanwhileAnswer } from '#contract/conversation.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { ApiError } from '#web/api/request.ts';
import { addUnsentTexts } from '#web/api/signed-out.ts';
import { nowMs } from '#web/kit/clock.ts';
import { notify } from '#web/kit/toast.tsx';
import { overviewQuery } from '#web/shell/session.ts';
import { CompositionStore, type Outcome, type Outgoing } from './composition-store.ts';
import { type ConversationKey, rereadConversations, sendMessage } from './conversation-queries.ts';
import { DraftStorage } from './draft-storage.ts';
import { newIdempotencyKey } from './idempotency-key.ts';
import { texts } from './texts.ts';

/** The key of a conversation in the store. */
export const compositionKey = (teamId: string, { phoneNumber, contact }: ConversationKey) =>
  `${teamId} ${phoneNumber} ${contact}`;

/** The parts of a key. Only the contact may have spaces. */
export function partsOf(conversation: string): ConversationKey & { readonly teamId: string } {
  const [teamId = '', phoneNumber = '', ...contact] = conversation.split(' ');
  return { teamId, phoneNumber, contact: contact.join(' ') };
}

/** Statuses that the server returns before it looks up the Idempotency-Key (specification section 4.3). */
const beforeRepeats: readonly number[] = [401, 403, 429];

/** Reads from an error whether the server may have accepted the message, or a colleague answered meanwhile. */
function judge(error: Error, isRepeat: boolean): 'lost' | 'refused' | MeanwhileAnswer {
  if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) return 'lost';
  if (isRepeat && beforeRepeats.includes(error.status)) return 'lost';
  return (error.details.answer as MeanwhileAnswer | undefined) ?? 'refused';
}

function accept(conversation: string, { message, idempotencyKey, seenId, seenAnswerId, isAnyway }: Outgoing) {
  const { teamId, phoneNumber, contact } = partsOf(conversation);
  const reply = {
    from: phoneNumber,
    to: contact,
    content: message.text,
    media_url: message.mediaUrl?.trim() || null,
    media_id: message.file?.media?.id ?? null,
    seen_message_id: seenId,
    seen_answer_id: seenAnswerId,
    answer_anyway: isAnyway,
  };
  return sendMessage(teamId, reply, idempotencyKey);
}

/** The pause before a lost message is repeated; it doubles with each try. */
const repeatMs = 1_000;
const repeatMaxMs = 15_000;

const repeats = new Map<string, ReturnType<typeof setTimeout>>();

function repeatLater(conversation: string): void {
  const tries =
    compositions.get(conversation).outgoing.find(({ state }) => state === 'unanswered')?.tries ?? 1;
  clearTimeout(repeats.get(conversation));
  const wait = Math.min(repeatMs * 2 ** (tries - 1), repeatMaxMs);
  repeats.set(
    conversation,
    setTimeout(() => void compositions.resume(conversation), wait),
  );
}

type Opener = (params: ConversationKey & { readonly teamId: string }) => void;

let open: Opener = () => undefined;

/** Sets how a toast opens a conversation, because only a component has the router. */
export function openConversationsBy(opener: Opener): void {
  open = opener;
}

/** Shows how a send ended: in the open conversation, or as a toast on another page. */
function ended(conversation: string, outcome: Outcome): void {
  const { teamId, ...key } = partsOf(conversation);
  if (outcome === 'unanswered') repeatLater(conversation);
  else void rereadConversations(teamId, key);
  if (outcome === 'sent' || outcome === 'unanswered' || compositions.isShown(conversation)) return;
  const title = texts.reply.notSent({ contact: formatPhoneNumber(key.contact) });
  const reason = outcome === 'answered' ? texts.meanwhile.why : compositions.get(conversation).error?.message;
  notify(title, reason, { text: texts.openConversation, onSelect: () => open({ teamId, ...key }) });
}

const overview = overviewQuery.initialData();
const drafts = new DraftStorage(localStorage, overview?.account.id ?? '');

/** The compositions of this tab, which keeps them while other pages are open. */
export const compositions = new CompositionStore(
  {
    newKey: newIdempotencyKey,
    nowMs,
    accept,
    judge,
    ended,
    tooLate: () => new Error(texts.reply.tooLate),
    save: drafts.save,
  },
  drafts.load(overview?.teams.map(({ id }) => id) ?? []),
);
addUnsentTexts(() => compositions.texts());

const resumeAll = () => {
  for (const conversation of compositions.conversations()) void compositions.resume(conversation);
};
resumeAll();
addEventListener('online', resumeAll);

/** Drops the drafts to a contact that was erased. */
export function forgetContact(teamId: string, contact: string): void {
  for (const conversation of compositions.conversations()) {
    const parts = partsOf(conversation);
    if (parts.teamId === teamId && parts.contact === contact) compositions.forget(conversation);
  }
}
