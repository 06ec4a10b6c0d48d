import { revokeExcessKeys, revokeMemberKeys } from '#server/api-keys/revoke-keys.ts';
import type { OnContactErased } from '#server/dashboard/erasure/erase-contact.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failMessagesOfDeletedNumber, failMessagesToContact } from '#server/messages/sweep-messages.ts';
import type { OnNumberRemoved } from '#server/numbers/change-number.ts';
import { createTestLine } from '#server/numbers/create-simulated-number.ts';
import type { OnOptedOut } from '#server/opt-outs/change-opt-out.ts';
import { eraseLockTexts } from '#server/setup/erase-lock-texts.ts';
import type { OnMemberRemoved } from '#server/teams/members/end-membership.ts';
import type { OnRoleChanged } from '#server/teams/members/roles.ts';
import type { OnTestTeamCreated } from '#server/teams/team/create-team.ts';

/*
 * Transaction hooks: one slice's functions that run in another slice's transaction, which does not import that slice.
 * The server and the command line use the same hooks.
 */

export function numberRemovedHooks(services: Runtime): OnNumberRemoved[] {
  return [(trx, number) => failMessagesOfDeletedNumber(services, trx, number)];
}

export function optedOutHooks(services: Runtime): OnOptedOut[] {
  return [(trx, optedOut) => failMessagesToContact(trx, services, optedOut)];
}

export function memberRemovedHooks(services: Runtime): OnMemberRemoved[] {
  return [
    async (trx, { member, revokeKeys, by }) => {
      if (revokeKeys) await revokeMemberKeys(trx, services, member, by);
    },
  ];
}

export function roleChangedHooks(services: Runtime): OnRoleChanged[] {
  return [(trx, { member, by }) => revokeExcessKeys(trx, services, member, by)];
}

export function testTeamCreatedHooks(services: Runtime): OnTestTeamCreated[] {
  return [(trx, team) => createTestLine(trx, services, team)];
}

export function contactErasedHooks(): OnContactErased[] {
  return [eraseLockTexts];
}
