import type { EventType } from '#contract/event.ts';
import type { MessageRow } from './message.ts';
import { deviceTextStart } from './message-status.ts';

/** Removes the contact's handle, the text and the media from a message (specification section 12.14). */
export function eraseMessageRow(message: MessageRow): MessageRow {
  return {
    ...message,
    ...(message.direction === 'inbound' ? { from_handle: '' } : { to_handle: '' }),
    content: '',
    media_url: null,
    device_error: null,
  };
}

/**
 * Removes the contact's handle, the text and the media from the `data` of an event. It also removes the phone's error
 * text, which may quote a handle.
 */
export function eraseEventData(
  type: EventType,
  data: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (type === 'contact.opted_out' || type === 'contact.opted_in') return { ...data, contact: '' };
  const erased = { ...data, content: '', media_url: null };
  const message =
    typeof data.error_message === 'string'
      ? { error_message: data.error_message.split(deviceTextStart)[0] }
      : {};
  return type === 'message.received' ? { ...erased, from: '' } : { ...erased, to: '', ...message };
}
