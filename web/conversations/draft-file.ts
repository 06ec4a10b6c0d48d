import type { mediaMaxBytes, UploadedMedia } from '#contract/media.ts';
import { upload } from '#web/api/upload.ts';
import type { DraftFile } from './composition-store.ts';
import { compositions, partsOf } from './compositions.ts';
import { texts as conversationTexts } from './texts.ts';

const { file: texts } = conversationTexts;

const maxBytes: typeof mediaMaxBytes = 5 * 1_024 * 1_024;

/** Media types that can be sent. The server decides by the bytes. */
export const sendableTypes = 'image/*,video/*,audio/*,application/pdf';

const uploads = new Map<string, AbortController>();

/** Attaches a file to the draft of a conversation, and uploads it. It replaces an earlier one. */
export async function attachFile(conversation: string, file: File): Promise<void> {
  detachFile(conversation);
  const { name, size, type } = file;
  const change = (part: Partial<DraftFile>) => {
    const { draft } = compositions.get(conversation);
    if (draft.file?.blob === file)
      compositions.write(conversation, { ...draft, file: { ...draft.file, ...part } });
  };
  const { text } = compositions.get(conversation).draft;
  compositions.write(conversation, { text, file: { name, size, type, blob: file, progress: 0 } });
  const problem = problemOf(file);
  if (problem) {
    change({ error: new Error(problem) });
    return;
  }
  const abort = new AbortController();
  uploads.set(conversation, abort);
  const path = `/app/teams/${partsOf(conversation).teamId}/media?name=${encodeURIComponent(name)}`;
  try {
    const onProgress = (progress: number) => change({ progress });
    change({ media: await upload<UploadedMedia>(path, file, onProgress, abort.signal) });
  } catch (error) {
    change({ error: error as Error });
  }
}

export function detachFile(conversation: string): void {
  uploads.get(conversation)?.abort();
  uploads.delete(conversation);
  compositions.write(conversation, { text: compositions.get(conversation).draft.text });
}

function problemOf({ size, type }: File): string | undefined {
  if (size === 0) return texts.empty;
  if (size > maxBytes) return texts.tooLarge;
  const isSendable = type === '' || /^(image|video|audio)\/|^application\/pdf$/.test(type);
  return isSendable ? undefined : texts.wrongKind;
}
