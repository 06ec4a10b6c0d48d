import { revokeExcessKeys, revokeKeysOfRemovedMember } from '#server/api-keys/revoke-keys.ts';
import type { Effects } from '#server/database/hooks.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { postponeMailLeases } from '#server/mail/mail-store.ts';
import { postponeHandOutLeases } from '#server/messages/hand-out-leases.ts';
import { postponeMediaLeases } from '#server/messages/media-fetch-store.ts';
import { failMessagesOfDeletedNumber, failMessagesToContact } from '#server/messages/sweep-messages.ts';
import { createTestLine } from '#server/numbers/create-simulated-number.ts';
import { eraseLockTexts } from '#server/setup/lock-texts.ts';
import { postponeDeliveryLeases } from '#server/webhooks/dispatch/delivery-leases.ts';

/** The transaction hooks of every runtime: that of the server, of a command and of a test. */
export const effects: Effects<Runtime> = {
  clockStepped: [postponeHandOutLeases, postponeDeliveryLeases, postponeMailLeases, postponeMediaLeases],
  testTeamCreated: [createTestLine],
  memberRemoved: [revokeKeysOfRemovedMember],
  roleChanged: [revokeExcessKeys],
  numberRemoved: [failMessagesOfDeletedNumber],
  optedOut: [failMessagesToContact],
  contactErased: [eraseLockTexts],
};
