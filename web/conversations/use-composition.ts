import { useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import { type Composition, type Draft, joinDrafts } from './composition-store.ts';
import { compositionKey, compositions, openConversationsBy } from './compositions.ts';
import type { ConversationKey } from './conversation-queries.ts';
import { attachFile, detachFile } from './draft-file.ts';
import { isEndShown } from './end-shown.ts';

export interface CompositionActions {
  readonly write: (draft: Draft) => void;
  /** Inserts a text before the draft. */
  readonly writeAgain: (draft: Draft) => void;
  readonly attach: (file: File) => void;
  /** Removes the file, and ends its upload. */
  readonly detach: () => void;
  readonly send: () => void;
  /** Sends an earlier message as a new one. The draft stays. */
  readonly sendAgain: (message: Draft) => void;
  readonly sendAnyway: () => void;
  readonly keepAsDraft: () => void;
}

/** A new message of the team counts as seen after this time, because a person who types reads it late. */
const answerReadMs = 1_500;

/**
 * The draft of a conversation and its actions.
 * @param newestId the newest message that the page shows; null if the conversation is empty
 * @param answerId the newest message of the team that the page shows
 */
export function useComposition(
  teamId: string,
  { phoneNumber, contact }: ConversationKey,
  newestId: string | null,
  answerId: string | null,
): [Composition, CompositionActions] {
  const router = useRouter();
  const key = compositionKey(teamId, { phoneNumber, contact });
  const composition = useSyncExternalStore(
    useCallback((listener) => compositions.subscribe(key, listener), [key]),
    () => compositions.get(key),
  );
  useEffect(() => compositions.show(key, newestId), [key, newestId]);
  useEffect(() => {
    let reading: ReturnType<typeof setTimeout> | undefined;
    const see = () => compositions.see(key, newestId, answerId);
    const look = () => {
      clearTimeout(reading);
      if (document.visibilityState !== 'visible' || !isEndShown()) return;
      if (compositions.knows(key, answerId)) see();
      else reading = setTimeout(see, answerReadMs);
    };
    look();
    document.addEventListener('visibilitychange', look);
    // Scroll events do not bubble.
    document.addEventListener('scroll', look, { capture: true, passive: true });
    return () => {
      clearTimeout(reading);
      document.removeEventListener('visibilitychange', look);
      document.removeEventListener('scroll', look, { capture: true });
    };
  }, [key, newestId, answerId]);
  useEffect(() => {
    openConversationsBy(
      (params) => void router.navigate({ to: '/teams/$teamId/conversations/$phoneNumber/$contact', params }),
    );
  }, [router]);
  const actions = useMemo(
    () => ({
      write: (draft: Draft) => compositions.write(key, draft),
      writeAgain: (draft: Draft) => compositions.write(key, joinDrafts(draft, compositions.get(key).draft)),
      attach: (file: File) => void attachFile(key, file),
      detach: () => detachFile(key),
      send: () => void compositions.send(key),
      sendAgain: (message: Draft) => void compositions.send(key, message),
      sendAnyway: () => void compositions.sendAnyway(key),
      keepAsDraft: () => compositions.keepAsDraft(key),
    }),
    [key],
  );
  return [composition, actions];
}
