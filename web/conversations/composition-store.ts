import type { MeanwhileAnswer } from '#contract/conversation.ts';
import type { UploadedMedia } from '#contract/media.ts';

/** A file from this computer. */
export interface DraftFile {
  readonly name: string;
  readonly size: number;
  readonly type: string;
  /** The bytes. A reload loses them, and keeps what was uploaded. */
  readonly blob?: Blob;
  /** The part that was uploaded, 0 to 1. */
  readonly progress: number;
  /** The stored file; undefined until the upload has ended. */
  readonly media?: UploadedMedia | undefined;
  /** The reason why the file can't be sent. */
  readonly error?: Error | undefined;
}

export interface Draft {
  readonly text: string;
  readonly file?: DraftFile | undefined;
  /** The URL of an attachment; '' while its field is open and empty, undefined without one. */
  readonly mediaUrl?: string | undefined;
}

/** A message that was sent, in the order of its conversation. */
export interface Outgoing {
  readonly message: Draft;
  /** All tries use the same key, so that a try after a lost answer does not send the message twice. */
  readonly idempotencyKey: string;
  /** When the person sent it. */
  readonly atMs: number;
  /** The newest message that the person saw then; null in an empty conversation. */
  readonly seenId?: string | null | undefined;
  /** The newest message of the team that the person knew: one that they saw, or that this page sent before. */
  readonly seenAnswerId?: string | null | undefined;
  readonly tries: number;
  /**
   * queued: an earlier one is on its way. unanswered: the answer was lost, and the message may have been accepted.
   * answered: a colleague answered meanwhile. accepted: the list of messages does not show it yet.
   */
  readonly state: 'queued' | 'sending' | 'unanswered' | 'answered' | 'accepted';
  readonly messageId?: string;
  readonly meanwhile?: MeanwhileAnswer['message'];
  /** The next try is sent although a colleague is answering. A repeat of that try asks again. */
  readonly isAnyway?: boolean;
}

/** The draft of a conversation, and the messages on their way. */
export interface Composition {
  readonly draft: Draft;
  readonly outgoing: readonly Outgoing[];
  /** The newest message that the person saw in the open conversation; null if it is empty. */
  readonly seenId?: string | null;
  /** The newest message of the team that the person saw, or that this page sent. */
  readonly seenAnswerId?: string | null;
  /** The reason why the last message was refused, until the draft changes. */
  readonly error?: Error | undefined;
}

export type Outcome = 'sent' | 'refused' | 'unanswered' | 'answered';

/** The functions of the page that the store calls. */
interface Sending {
  readonly newKey: () => string;
  readonly nowMs: () => number;
  readonly accept: (conversation: string, outgoing: Outgoing) => Promise<{ readonly id: string }>;
  /** Whether the message may have been accepted in spite of an error, or a colleague answered meanwhile. */
  readonly judge: (error: Error, isRepeat: boolean) => 'lost' | 'refused' | MeanwhileAnswer;
  readonly ended: (conversation: string, outcome: Outcome) => void;
  /** The error of a message that got no answer within an hour. */
  readonly tooLate: () => Error;
  readonly save: (conversation: string, composition: Composition | undefined) => void;
}

const empty: Composition = { draft: { text: '' }, outgoing: [] };

/** A lost message is repeated for this long. After it the person decides, because a late message may be wrong. */
const repeatedMs = 3_600_000;

/** The later of two ids. */
const laterOf = (first: string | null | undefined, second: string | null): string | null =>
  (first ?? '') > (second ?? '') ? (first ?? null) : second;

const isOnItsWay = ({ state }: Outgoing) => state !== 'accepted';

/**
 * Stores the compositions of this tab by conversation. A send moves the draft to the messages on their way, of which a
 * conversation sends one at a time. A refusal returns their texts to the draft.
 */
export class CompositionStore {
  readonly #sending: Sending;
  readonly #compositions: Map<string, Composition>;
  readonly #listeners = new Map<string, Set<() => void>>();

  /** @param saved what an earlier page stored; its messages are sent again by `resume` */
  constructor(sending: Sending, saved: Iterable<readonly [string, Composition]> = []) {
    this.#sending = sending;
    this.#compositions = new Map(saved);
  }

  get(conversation: string): Composition {
    return this.#compositions.get(conversation) ?? empty;
  }

  conversations(): readonly string[] {
    return [...this.#compositions.keys()];
  }

  /** Lists the texts of all drafts and of messages on their way. */
  texts(): readonly string[] {
    return [...this.#compositions.values()].flatMap(({ draft, outgoing }) =>
      [...outgoing.filter(isOnItsWay).map(({ message }) => message.text), draft.text].filter(Boolean),
    );
  }

  /** Calls the listener after each change of a composition. @returns a function that ends the subscription */
  subscribe(conversation: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(conversation) ?? new Set();
    this.#listeners.set(conversation, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  isShown(conversation: string): boolean {
    return (this.#listeners.get(conversation)?.size ?? 0) > 0;
  }

  write(conversation: string, draft: Draft): void {
    this.#set(conversation, { draft, error: undefined });
  }

  /**
   * Drops the messages on their way that the page shows by now. A conversation whose messages are gone was erased, so its
   * draft is dropped.
   */
  show(conversation: string, newestId: string | null): void {
    const { outgoing, seenId } = this.get(conversation);
    if (newestId === null && typeof seenId === 'string') {
      this.forget(conversation);
      return;
    }
    const left = outgoing.filter(
      ({ messageId }) => messageId === undefined || newestId === null || messageId > newestId,
    );
    if (left.length < outgoing.length) this.#set(conversation, { outgoing: left });
  }

  /** Notes the newest message, and the newest one of the team, that the person saw. */
  see(conversation: string, seenId: string | null, answerId: string | null): void {
    const seen = this.get(conversation);
    const seenAnswerId = laterOf(seen.seenAnswerId, answerId);
    if (seen.seenId !== seenId || seen.seenAnswerId !== seenAnswerId)
      this.#set(conversation, { seenId, seenAnswerId });
  }

  /** Whether the person knows the newest message of the team, or sees the conversation for the first time. */
  knows(conversation: string, answerId: string | null): boolean {
    const { seenAnswerId } = this.get(conversation);
    return seenAnswerId === undefined || laterOf(seenAnswerId, answerId) === seenAnswerId;
  }

  /** Sends the draft. @param again an earlier message to send as a new one, instead of the draft */
  async send(conversation: string, again?: Draft): Promise<void> {
    const { draft, outgoing, seenId, seenAnswerId } = this.get(conversation);
    const { newKey, nowMs } = this.#sending;
    const message = again ?? draft;
    const added = {
      message,
      idempotencyKey: newKey(),
      atMs: nowMs(),
      seenId,
      seenAnswerId,
      tries: 0,
      state: 'queued',
    } as const;
    this.#set(conversation, {
      draft: again ? draft : empty.draft,
      outgoing: [...outgoing, added],
      error: undefined,
    });
    await this.#sendNext(conversation);
  }

  /** Repeats the message that got no answer, with its key. */
  async resume(conversation: string): Promise<void> {
    const [lost] = this.get(conversation).outgoing.filter(isOnItsWay);
    if (lost?.state === 'unanswered') this.#change(conversation, lost, { state: 'queued' });
    await this.#sendNext(conversation);
  }

  /** Sends a message although a colleague answered meanwhile. The server asks again if the answer is another one. */
  async sendAnyway(conversation: string): Promise<void> {
    const held = this.get(conversation).outgoing.find(({ state }) => state === 'answered');
    const yes = held?.meanwhile ? { seenAnswerId: held.meanwhile.id } : { isAnyway: true };
    if (held) this.#change(conversation, held, { state: 'queued', ...yes });
    await this.#sendNext(conversation);
  }

  /** Keeps a message as draft because a colleague answered meanwhile. */
  keepAsDraft(conversation: string): void {
    if (this.get(conversation).outgoing.some(({ state }) => state === 'answered'))
      this.#takeBack(conversation, undefined);
  }

  /** Drops a composition, as after the erasure of its contact. */
  forget(conversation: string): void {
    this.#compositions.delete(conversation);
    this.#set(conversation, {});
  }

  async #sendNext(conversation: string): Promise<void> {
    const { nowMs, tooLate, ended } = this.#sending;
    let outcome: Outcome;
    do {
      const [next] = this.get(conversation).outgoing.filter(isOnItsWay);
      if (next?.state !== 'queued') return;
      const isLate = next.tries > 0 && nowMs() - next.atMs > repeatedMs;
      outcome = isLate ? this.#takeBack(conversation, tooLate()) : await this.#try(conversation, next);
      ended(conversation, outcome);
    } while (outcome === 'sent');
  }

  async #try(conversation: string, outgoing: Outgoing): Promise<Outcome> {
    const { accept, judge } = this.#sending;
    const { tries } = outgoing;
    this.#change(conversation, outgoing, { state: 'sending', tries: tries + 1, isAnyway: false });
    try {
      const { id } = await accept(conversation, outgoing);
      this.#accepted(conversation, outgoing, id);
      return 'sent';
    } catch (thrown) {
      const error = thrown as Error;
      const verdict = judge(error, tries > 0);
      if (verdict === 'refused') return this.#takeBack(conversation, error);
      const state = verdict === 'lost' ? 'unanswered' : 'answered';
      const meanwhile = verdict === 'lost' ? {} : { meanwhile: verdict.message };
      this.#change(conversation, outgoing, { state, ...meanwhile });
      return state;
    }
  }

  /** Notes that a message was accepted. The person knows it, so it refuses none of their next ones. */
  #accepted(conversation: string, accepted: Outgoing, messageId: string): void {
    this.#change(conversation, accepted, { state: 'accepted', messageId });
    const { outgoing, seenAnswerId } = this.get(conversation);
    this.#set(conversation, {
      seenAnswerId: laterOf(seenAnswerId, messageId),
      outgoing: outgoing.map((one) => ({ ...one, seenAnswerId: laterOf(one.seenAnswerId, messageId) })),
    });
  }

  /** Returns the texts of all messages on their way to the draft. A later send has a new idempotency key. */
  #takeBack(conversation: string, error: Error | undefined): 'refused' {
    const { draft, outgoing } = this.get(conversation);
    const messages = outgoing.filter(isOnItsWay).map(({ message }) => message);
    this.#set(conversation, {
      draft: [...messages, draft].reduce(joinDrafts),
      outgoing: outgoing.filter((one) => !isOnItsWay(one)),
      error,
    });
    return 'refused';
  }

  #change(conversation: string, { idempotencyKey }: Outgoing, change: Partial<Outgoing>): void {
    const outgoing = this.get(conversation).outgoing.map((one) =>
      one.idempotencyKey === idempotencyKey ? { ...one, ...change } : one,
    );
    this.#set(conversation, { outgoing });
  }

  #set(conversation: string, change: Partial<Composition>): void {
    const composition = { ...this.get(conversation), ...change };
    this.#compositions.set(conversation, composition);
    this.#sending.save(conversation, isEmpty(composition) ? undefined : composition);
    for (const listener of this.#listeners.get(conversation) ?? []) listener();
  }
}

const isEmpty = ({ draft, outgoing }: Composition) =>
  draft.text === '' && !draft.mediaUrl && !draft.file && !outgoing.some(isOnItsWay);

/** Joins two drafts, the first text above the second. A message has one file: the first. */
export function joinDrafts(first: Draft, then: Draft): Draft {
  const text = [first.text, then.text].filter((part) => part !== '').join('\n');
  const { mediaUrl, file } = first.mediaUrl === undefined && !first.file ? then : first;
  return { text, mediaUrl, file };
}

/** Counts code points, as the API does, so that an emoji of two UTF-16 units is one character. */
export const countCharacters = (text: string): number => [...text].length;
