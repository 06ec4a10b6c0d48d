import { revokeKeysOfMember, revokeWiderKeys } from '#server/api-keys/revoke-keys-of-member.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failMessagesOfNumber } from '#server/messages/sweep-messages.ts';
import type { NumberRemoved } from '#server/numbers/delete-number.ts';
import type { MemberRemoved } from '#server/teams/end-membership.ts';
import type { RoleMoved } from '#server/teams/move-role.ts';

/*
 * Effects to the left: what happens in the transaction of a slice that knows nothing of it. The server and the command
 * line take the same lists.
 */

export function whenNumberRemoved(services: Pick<Runtime, 'clock' | 'ids'>): NumberRemoved[] {
  return [(trx, number) => failMessagesOfNumber(services, trx, number)];
}

export function whenMemberRemoved(services: Pick<Runtime, 'clock' | 'ids'>): MemberRemoved[] {
  return [
    async (trx, { member, revokeKeys, by }) => {
      if (revokeKeys) await revokeKeysOfMember(trx, services, member, by);
    },
  ];
}

export function whenRoleMoved(services: Pick<Runtime, 'clock' | 'ids'>): RoleMoved[] {
  return [(trx, { member, by }) => revokeWiderKeys(trx, services, member, by)];
}
