import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { type ConversationKey, rereadConversations, setWaiting, showChange } from './conversation-queries.ts';
import { texts } from './texts.ts';

const { done } = texts;

/** How long the toast offers to undo. */
const undoMs = 8_000;

type SetWaiting = (key: ConversationKey, waiting: boolean, messageId: string) => Promise<void>;

/**
 * Returns a function that marks a conversation as done up to a message, or lets it wait again, and offers to undo that;
 * undefined for a person who may not.
 */
export function useSetWaiting(): SetWaiting | undefined {
  const team = useTeam();
  const set: SetWaiting = async (key, waiting, messageId) => {
    showChange(team.id, key, { waiting });
    try {
      await setWaiting(team.id, key, { waiting, message_id: messageId });
      notify(waiting ? done.waitsAgain : done.isDone, undefined, {
        text: done.undo,
        timeoutMs: undoMs,
        onSelect: () => void set(key, !waiting, messageId),
      });
    } catch (error) {
      notify(done.failed, (error as Error).message);
    }
    await rereadConversations(team.id, key);
  };
  return team.can('messages:send') ? set : undefined;
}
