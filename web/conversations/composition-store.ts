export interface Draft {
  readonly text: string;
  /** The URL of an attachment; '' while its field is open and empty, undefined without one. */
  readonly mediaUrl?: string | undefined;
}

export interface Outgoing {
  readonly message: Draft;
  /** All tries use the same key, so that a try after a lost answer does not send the message twice. */
  readonly idempotencyKey: string;
  /** Whether the answer was lost: the message may have been accepted. */
  readonly isUnanswered: boolean;
}

/** The draft of a conversation, and the message that is being sent. */
export interface Composition {
  readonly draft: Draft;
  readonly outgoing?: Outgoing | undefined;
  /** The reason why the last message was refused or got no answer, until the draft changes. */
  readonly error?: Error | undefined;
}

export type Outcome = 'sent' | 'refused' | 'unanswered';

const empty: Composition = { draft: { text: '' } };

/**
 * Stores the compositions of this tab by conversation, and keeps them while other pages are open. A send empties the
 * draft, so that text typed meanwhile is another message. A refusal returns the text to the draft.
 */
export class CompositionStore {
  readonly #newKey: () => string;
  /** Whether the message may have been accepted in spite of an error of this try or an earlier one. */
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

  /** Lists the texts of all drafts and of unanswered messages. */
  texts(): readonly string[] {
    return [...this.#compositions.values()].flatMap(({ draft, outgoing }) =>
      [outgoing?.message.text ?? '', draft.text].filter((text) => text !== ''),
    );
  }

  /** Calls the listener after each change of a conversation's draft. @returns a function that ends the subscription */
  subscribe(conversation: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(conversation) ?? new Set();
    this.#listeners.set(conversation, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  isShown(conversation: string): boolean {
    return (this.#listeners.get(conversation)?.size ?? 0) > 0;
  }

  write(conversation: string, draft: Draft): void {
    const { outgoing, error } = this.get(conversation);
    this.#set(conversation, { draft, outgoing, error: outgoing ? error : undefined });
  }

  /**
   * Sends the draft, or repeats the unanswered message. One message at a time keeps a conversation in order.
   * @param again an earlier message to send as a new one, instead of the draft
   */
  async send(
    conversation: string,
    accept: (message: Draft, idempotencyKey: string) => Promise<unknown>,
    again?: Draft,
  ): Promise<Outcome | undefined> {
    const { draft, outgoing } = this.get(conversation);
    if (outgoing && (!outgoing.isUnanswered || again)) return undefined;
    const { message, idempotencyKey } = outgoing ?? {
      message: again ?? draft,
      idempotencyKey: this.#newKey(),
    };
    const sending: Outgoing = { message, idempotencyKey, isUnanswered: false };
    this.#set(conversation, { draft: outgoing || again ? draft : empty.draft, outgoing: sending });
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

  /** Moves the unanswered message back into the draft. A later send has a new idempotency key. */
  takeBack(conversation: string): void {
    const { draft, outgoing } = this.get(conversation);
    if (outgoing?.isUnanswered) this.#set(conversation, { draft: joinDrafts(outgoing.message, draft) });
  }

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

/** Joins two drafts, the first text above the second. */
export function joinDrafts(first: Draft, then: Draft): Draft {
  const text = [first.text, then.text].filter((part) => part !== '').join('\n');
  return { text, mediaUrl: first.mediaUrl ?? then.mediaUrl };
}

/** Counts code points, as the API does, so that an emoji of two UTF-16 units is one character. */
export const countCharacters = (text: string): number => [...text].length;
