import type { TestService } from '#test/support/service/test-service.ts';

export interface StoredConversation {
  readonly openedBy: 'team' | 'contact';
  /** Number of hand-outs since the contact's last message. */
  readonly unansweredCount: number;
  readonly lastInboundAt: Date | null;
}

/** The conversation of a number and a contact; undefined before its first message. */
export async function storedConversation(
  { query }: Pick<TestService, 'query'>,
  phoneNumber: string,
  contact: string,
): Promise<StoredConversation | undefined> {
  const [conversation] = await query<StoredConversation>(
    `SELECT c.opened_by AS "openedBy", c.unanswered_count AS "unansweredCount", c.last_inbound_at AS "lastInboundAt"
     FROM conversations c JOIN numbers n ON n.id = c.number_id WHERE n.phone_number = $1 AND c.contact = $2`,
    [phoneNumber, contact],
  );
  return conversation;
}
