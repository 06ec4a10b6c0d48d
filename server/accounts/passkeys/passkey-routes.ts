import {
  AddPasskeyRequest,
  Passkey,
  PasskeyList,
  PasskeyOptions,
  RenamePasskeyRequest,
} from '#contract/account.ts';
import { Deleted } from '#contract/deleted.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { finishPasskeyRegistration } from './finish-passkey-registration.ts';
import { listPasskeys } from './passkey-store.ts';
import { passkeyView } from './passkey-view.ts';
import { removePasskey } from './remove-passkey.ts';
import { renamePasskey } from './rename-passkey.ts';
import { startPasskeyRegistration } from './start-passkey-registration.ts';

/** Body limit: attestations of some authenticators fill several KiB, which base64url and JSON enlarge. */
const attestationLimitBytes = 64 * 1_024;

/** Routes for the passkeys of the signed-in account (specification section 12.2). */
export function passkeyRoutes(services: Runtime): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/account/passkeys',
      audience: 'account',
      answers: { 200: PasskeyList },
      handle: async ({ signedIn }) => {
        const passkeys = await listPasskeys(services.database.pool, signedIn.accountId);
        return { body: { passkeys: passkeys.map(passkeyView) } };
      },
    }),
    route({
      method: 'POST',
      path: '/app/account/passkeys/options',
      audience: 'account',
      answers: { 200: PasskeyOptions },
      handle: async ({ signedIn }) => ({
        body: await startPasskeyRegistration(services, signedIn.accountId),
      }),
    }),
    route({
      method: 'POST',
      path: '/app/account/passkeys',
      audience: 'account',
      audit: 'account.passkey_added',
      body: AddPasskeyRequest,
      bodyLimitBytes: attestationLimitBytes,
      answers: { 201: Passkey },
      handle: async ({ signedIn, by, body, request }) => ({
        status: 201,
        body: passkeyView(
          await finishPasskeyRegistration(services, signedIn, by, {
            ...body,
            currentPassword: body.current_password,
            request,
          }),
        ),
      }),
    }),
    route({
      method: 'PUT',
      path: '/app/account/passkeys/:id',
      ids: { id: 'pky' },
      audience: 'account',
      audit: 'account.passkey_renamed',
      body: RenamePasskeyRequest,
      answers: { 200: Passkey },
      handle: async ({ signedIn, by, ids, body }) => {
        const input = { passkeyId: ids.id, name: body.name };
        return { body: passkeyView(await renamePasskey(services, signedIn.accountId, by, input)) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/app/account/passkeys/:id',
      ids: { id: 'pky' },
      audience: 'account',
      audit: 'account.passkey_removed',
      answers: { 200: Deleted },
      handle: async ({ signedIn, by, ids }) => {
        await removePasskey(services, signedIn.accountId, by, ids.id);
        return { body: { deleted: true } };
      },
    }),
  ];
}
