import { timingSafeEqual } from 'node:crypto';
import type { Runtime } from '#server/database/runtime.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { type MessageId, publicId } from '#server/platform/ids/ids.ts';

/**
 * Creates the public link of an inbound message's file (specification section 2.8). Its token is derived from
 * SECRETS_KEY and the message: so the token needs no storage, and a wrong one is refused without a query.
 */
export function mediaLink(
  { config, secrets }: Pick<Runtime, 'config' | 'secrets'>,
  messageId: MessageId,
  name: string,
): string {
  const id = publicId('msg', messageId);
  return `${config.baseUrl}/media/${id}/${secrets.mediaToken(id)}/${name}`;
}

/** Whether a token belongs to the message's link; compared in constant time. */
export function isMediaToken(
  { secrets }: Pick<Runtime, 'secrets'>,
  messageId: MessageId,
  token: string,
): boolean {
  return timingSafeEqual(sha256(secrets.mediaToken(publicId('msg', messageId))), sha256(token));
}
