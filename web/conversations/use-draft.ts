import { useState } from 'react';
import type { ConversationKey } from './conversation-queries.ts';

/** A message that is being written. */
export interface Draft {
  readonly text: string;
  /** The address of a file; undefined while none is attached. */
  readonly mediaUrl?: string | undefined;
}

const empty: Draft = { text: '' };
/** Of this tab: what was typed in a conversation is there again when it is opened again. */
const drafts = new Map<string, Draft>();

export function useDraft(
  teamId: string,
  { phoneNumber, contact }: ConversationKey,
): [Draft, (draft: Draft) => void] {
  const key = `${teamId} ${phoneNumber} ${contact}`;
  const [draft, setDraft] = useState(() => drafts.get(key) ?? empty);
  const keep = (changed: Draft) => {
    if (changed.text === '' && changed.mediaUrl === undefined) drafts.delete(key);
    else drafts.set(key, changed);
    setDraft(changed);
  };
  return [draft, keep];
}
