import type { Runtime } from '#server/database/runtime.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import { invitationMs } from '#server/teams/limits.ts';

/** Creates the link of an invitation, which begins with APP_URL. Only the hash of its token is stored. */
export function newInvitationLink(
  { config, clock }: Pick<Runtime, 'config' | 'clock'>,
  createdAt: Date,
): {
  readonly url: string;
  readonly tokenHash: Buffer;
  readonly expiresAt: Date;
} {
  const token = randomToken();
  return {
    url: `${config.appUrl}/invite/${token}`,
    tokenHash: sha256(token),
    expiresAt: clock.in(invitationMs, createdAt),
  };
}
