/** A message that is being written. */
export interface Draft {
  readonly text: string;
  /** The address of a file; undefined while none is attached. */
  readonly mediaUrl?: string | undefined;
}

/** A message that was handed to the API. */
export interface Outgoing {
  readonly message: Draft;
  /** The same for each try: a lost answer sends it once. */
  readonly idempotencyKey: string;
  /** No answer came, so it may have been accepted. */
  readonly isUnanswered: boolean;
}

/** The draft of a conversation, and the message that is being sent. */
export interface Composition {
  readonly draft: Draft;
  readonly outgoing?: Outgoing | undefined;
  /** Why the last message was refused, until the draft changes; or why no answer came. */
  readonly error?: Error | undefined;
}

export type Outcome = 'sent' | 'refused' | 'unanswered';

const empty: Composition = { draft: { text: '' } };

/**
 * Keeps the compositions of this tab, by conversation, also while other pages are shown. A send clears the draft, so that
 * text typed meanwhile is another message. A refusal puts the sent text back into the draft.
 */
export class CompositionStore {
  readonly #newKey: () => string;
  /** Whether an error leaves open if the message was accepted, now or by the try before. */
  readonly #isLost: (error: Error, isRepeat: boolean) => boolean;
  readonly #compositions = new Map<string, Composition>();
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(newKey: () => string, isLost: (error: Error, isRepeat: boolean) => boolean) {
    this.#newKey = newKey;
    this.#isLost = isLost;
  }

  get(conversation: string): Composition {
    return this.#compositions.get(conversation) ?? empty;
  }

  /** @returns ends it */
  subscribe(conversation: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(conversation) ?? new Set();
    this.#listeners.set(conversation, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Whether a page shows the conversation. */
  isShown(conversation: string): boolean {
    return (this.#listeners.get(conversation)?.size ?? 0) > 0;
  }

  write(conversation: string, draft: Draft): void {
    const { outgoing, error } = this.get(conversation);
    this.#set(conversation, { draft, outgoing, error: outgoing ? error : undefined });
  }

  /** Sends the draft, or again what got no answer. One message of a conversation at a time, so that they stay in order. */
  async send(
    conversation: string,
    accept: (message: Draft, idempotencyKey: string) => Promise<unknown>,
  ): Promise<Outcome | undefined> {
    const { draft, outgoing } = this.get(conversation);
    if (outgoing && !outgoing.isUnanswered) return undefined;
    const { message, idempotencyKey } = outgoing ?? { message: draft, idempotencyKey: this.#newKey() };
    const sending: Outgoing = { message, idempotencyKey, isUnanswered: false };
    this.#set(conversation, { draft: outgoing ? draft : empty.draft, outgoing: sending });
    try {
      await accept(message, idempotencyKey);
      this.#set(conversation, { draft: this.get(conversation).draft });
      return 'sent';
    } catch (thrown) {
      const error = thrown as Error;
      if (this.#isLost(error, outgoing !== undefined)) {
        const unanswered = { ...sending, isUnanswered: true };
        this.#set(conversation, { draft: this.get(conversation).draft, outgoing: unanswered, error });
        return 'unanswered';
      }
      this.#set(conversation, { draft: joinDrafts(message, this.get(conversation).draft), error });
      return 'refused';
    }
  }

  /** Makes what got no answer the draft again: sent then, it is another message. */
  takeBack(conversation: string): void {
    const { draft, outgoing } = this.get(conversation);
    if (outgoing?.isUnanswered) this.#set(conversation, { draft: joinDrafts(outgoing.message, draft) });
  }

  /** Forgets what got no answer. */
  forget(conversation: string): void {
    const { draft, outgoing } = this.get(conversation);
    if (outgoing?.isUnanswered) this.#set(conversation, { draft });
  }

  #set(conversation: string, composition: Composition): void {
    const { draft, outgoing, error } = composition;
    const isEmpty = draft.text === '' && draft.mediaUrl === undefined && !outgoing && !error;
    if (isEmpty) this.#compositions.delete(conversation);
    else this.#compositions.set(conversation, composition);
    for (const listener of this.#listeners.get(conversation) ?? []) listener();
  }
}

/** Joins two drafts: the text of the second one goes below that of the first. */
export function joinDrafts(first: Draft, then: Draft): Draft {
  const text = [first.text, then.text].filter((part) => part !== '').join('\n');
  return { text, mediaUrl: first.mediaUrl ?? then.mediaUrl };
}

/** The API's count: one for each code point, so that an emoji of two units is one. */
export const countCharacters = (text: string): number => [...text].length;
