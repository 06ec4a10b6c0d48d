import type { FailureCode, MessageStatus } from '#contract/message.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SetupLinkRow } from '#server/devices/device-store.ts';
import { failureMessage } from '#server/messages/message-status.ts';
import { findMessage } from '#server/messages/message-store.ts';
import type { MessageId } from '#server/platform/ids.ts';

/** A test text of the setup page that was accepted. */
export interface TestText {
  /** '' once the recipient was erased. */
  readonly to: string;
  readonly status: MessageStatus;
  /** When it was sent, or accepted if it was not sent yet. */
  readonly at: Date;
  /** Why the text failed, as a code and as a sentence; null if it did not. */
  readonly errorCode: FailureCode | null;
  readonly error: string | null;
}

export const isSent = (status: MessageStatus) => status === 'sent' || status === 'delivered';

/** Reads a test text. @returns undefined if its message was purged */
export async function readTestText(
  { database }: Runtime,
  link: SetupLinkRow,
  messageId: MessageId,
): Promise<TestText | undefined> {
  const message = await findMessage(database.pool, { teamId: link.team_id, messageId });
  if (!message) return undefined;
  const { to_handle: to, status, error_code: errorCode, device_error, may_have_been_sent } = message;
  const error =
    errorCode && failureMessage(errorCode, device_error, may_have_been_sent, message.media_failure);
  return { to, status, at: message.sent_at ?? message.created_at, errorCode, error };
}

/** Finds the link's last test text that was sent. @param messageIds the link's test texts in order */
export async function findSentTestText(
  services: Runtime,
  link: SetupLinkRow,
  messageIds: readonly MessageId[],
): Promise<TestText | undefined> {
  const texts = await Promise.all(messageIds.map((messageId) => readTestText(services, link, messageId)));
  // An erased text has no recipient, so the next test text may go to any number.
  return texts.findLast((text) => text !== undefined && text.to !== '' && isSent(text.status));
}
