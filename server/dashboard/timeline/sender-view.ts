import type { MessageSender } from '#contract/timeline.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { SenderRow } from './timeline-store.ts';

/** The API key or member that sent a message, as people see it (specification section 12.8). */
export function senderView({ kind, id, name }: SenderRow): MessageSender {
  return { kind, id: kind === 'key' ? publicId('key', id) : publicId('usr', id), name };
}
