import { useRouter } from '@tanstack/react-router';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { ApiError } from '#web/api/request.ts';
import { addUnsentTexts } from '#web/api/signed-out.ts';
import { notify } from '#web/kit/toast.tsx';
import { type Composition, CompositionStore, type Draft, joinDrafts } from './composition-store.ts';
import { type ConversationKey, rereadConversations, sendMessage } from './conversation-queries.ts';
import { newIdempotencyKey } from './idempotency-key.ts';
import { texts } from './texts.ts';

/** Statuses that the server returns before it looks up the Idempotency-Key (specification section 4.3). */
const beforeRepeats: readonly number[] = [401, 403, 429];

/** Whether the server may have accepted the message in spite of the error. */
const isLost = (error: Error, isRepeat: boolean) =>
  !(error instanceof ApiError) ||
  error.status < 400 ||
  error.status >= 500 ||
  (isRepeat && beforeRepeats.includes(error.status));

/** The composition store of this tab, which keeps drafts while other pages are open. */
const compositions = new CompositionStore(newIdempotencyKey, isLost);
addUnsentTexts(() => compositions.texts());

export interface CompositionActions {
  readonly write: (draft: Draft) => void;
  /** Inserts a text before the draft. */
  readonly writeAgain: (draft: Draft) => void;
  readonly send: () => void;
  /** Sends an earlier message as a new one. The draft stays. */
  readonly sendAgain: (message: Draft) => void;
  readonly takeBack: () => void;
  readonly forget: () => void;
}

/** The draft of a conversation and its actions. If a send fails while another page is open, a toast reports it. */
export function useComposition(
  teamId: string,
  { phoneNumber, contact }: ConversationKey,
): [Composition, CompositionActions] {
  const router = useRouter();
  const key = `${teamId} ${phoneNumber} ${contact}`;
  const composition = useSyncExternalStore(
    useCallback((listener) => compositions.subscribe(key, listener), [key]),
    () => compositions.get(key),
  );
  const actions = useMemo(() => {
    const accept = ({ text, mediaUrl }: Draft, idempotencyKey: string) =>
      sendMessage(
        teamId,
        { from: phoneNumber, to: contact, content: text, media_url: mediaUrl?.trim() || null },
        idempotencyKey,
      );
    const open = () =>
      void router.navigate({
        to: '/teams/$teamId/conversations/$phoneNumber/$contact',
        params: { teamId, phoneNumber, contact },
      });
    const send = async (again?: Draft) => {
      const outcome = await compositions.send(key, accept, again);
      if (outcome !== undefined) void rereadConversations(teamId, { phoneNumber, contact });
      if (outcome === undefined || outcome === 'sent' || compositions.isShown(key)) return;
      const to = formatPhoneNumber(contact);
      const title = outcome === 'refused' ? texts.reply.notSent : texts.reply.maybeSent;
      const reason = compositions.get(key).error?.message;
      notify(title({ contact: to }), reason, { text: texts.openConversation, onSelect: open });
    };
    return {
      write: (draft: Draft) => compositions.write(key, draft),
      writeAgain: (draft: Draft) => compositions.write(key, joinDrafts(draft, compositions.get(key).draft)),
      send: () => void send(),
      sendAgain: (message: Draft) => void send(message),
      takeBack: () => compositions.takeBack(key),
      forget: () => compositions.forget(key),
    };
  }, [router, key, teamId, phoneNumber, contact]);
  return [composition, actions];
}
