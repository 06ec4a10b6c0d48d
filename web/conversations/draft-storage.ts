import type { Composition, Draft } from './composition-store.ts';

const prefix = 'ownline.draft ';

/** Drafts are kept for 30 days. */
const keptMs = 30 * 86_400_000;

type Kept = Pick<Composition, 'draft' | 'outgoing' | 'seenId' | 'seenAnswerId'> & { readonly atMs: number };

/** Keeps the compositions of an account in this browser, so that they survive a reload. */
export class DraftStorage {
  readonly #storage: Storage;
  readonly #prefix: string;

  constructor(storage: Storage, accountId: string) {
    this.#storage = storage;
    this.#prefix = `${prefix}${accountId} `;
  }

  /** Reads what is kept for the account. Old drafts, and those of other accounts and of other teams, are deleted. */
  load(teamIds: readonly string[], nowMs = Date.now()): readonly (readonly [string, Composition])[] {
    return draftKeys(this.#storage).flatMap((key) => {
      const conversation = key.slice(this.#prefix.length);
      const kept = key.startsWith(this.#prefix) ? this.#read(key) : undefined;
      const isOwn = teamIds.some((id) => conversation.startsWith(`${id} `));
      if (kept && isOwn && nowMs - kept.atMs < keptMs) return [[conversation, restored(kept)] as const];
      this.#storage.removeItem(key);
      return [];
    });
  }

  readonly save = (conversation: string, composition: Composition | undefined): void => {
    const key = this.#prefix + conversation;
    if (composition === undefined) {
      this.#storage.removeItem(key);
      return;
    }
    const { draft, outgoing, seenId, seenAnswerId } = composition;
    const onTheirWay = outgoing.filter(({ state }) => state !== 'accepted');
    const kept = { draft, outgoing: onTheirWay, seenId, seenAnswerId };
    try {
      const text = JSON.stringify({ ...kept, atMs: Date.now() }, (name, value) =>
        name === 'blob' ? undefined : value,
      );
      this.#storage.setItem(key, text);
    } catch {
      // The storage is full. The draft lasts as long as the page.
    }
  };

  #read(key: string): Kept | undefined {
    try {
      return JSON.parse(this.#storage.getItem(key) ?? '') as Kept;
    } catch {
      return undefined;
    }
  }
}

/** A message on its way may have been accepted before the reload, so it is repeated with its key. */
const restored = ({ draft, outgoing, seenId, seenAnswerId }: Kept): Composition => ({
  draft: withoutLostFile(draft),
  outgoing: outgoing.map((one) => ({ ...one, state: 'queued', tries: Math.max(1, one.tries) })),
  ...(seenId !== undefined && { seenId }),
  ...(seenAnswerId !== undefined && { seenAnswerId }),
});

/** Drops a file whose upload had not ended, or that the server has deleted meanwhile. */
const withoutLostFile = ({ file, ...draft }: Draft): Draft =>
  file?.media && Date.parse(file.media.expires_at) > Date.now() ? { ...draft, file } : draft;

/** Deletes all drafts of this browser, when the person signs out. */
export function deleteDrafts(storage: Storage): void {
  for (const key of draftKeys(storage)) storage.removeItem(key);
}

const draftKeys = (storage: Storage): readonly string[] =>
  Object.keys(storage).filter((key) => key.startsWith(prefix));
