import type { Message } from '#contract/message.ts';
import { basePath } from '#web/api/base-path.ts';
import { texts } from './texts.ts';

type OfFile = Pick<Message, 'id' | 'media_url'>;

const pathOf = (url: string | null) => (url !== null && URL.canParse(url) ? new URL(url).pathname : '');

/** The path of a file that this server has: its link names the message. undefined for files of other hosts. */
export function storedPath({ id, media_url }: OfFile): string | undefined {
  const [path, messageId] = /\/media\/(msg_\w+)\/.+$/.exec(pathOf(media_url)) ?? [];
  return path !== undefined && messageId === id ? `${basePath}${path}` : undefined;
}

/** Takes the last segment of the path as the file's name. Its percent-encoding may be invalid. */
export function fileName({ media_url }: OfFile): string {
  const last = pathOf(media_url).split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || texts.attachment;
  } catch {
    return last;
  }
}
