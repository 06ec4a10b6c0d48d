import {
  AddPasskeyRequest,
  Passkey,
  PasskeyList,
  PasskeyOptions,
  RenamePasskeyRequest,
} from '#contract/account.ts';
import { Deleted } from '#contract/deleted.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { publicId } from '#server/platform/ids.ts';
import {
  finishPasskeyRegistration,
  listPasskeys,
  type PasskeyRow,
  removePasskey,
  renamePasskey,
  startPasskeyRegistration,
} from './passkeys.ts';

/** Body limit: attestations of some authenticators fill several KiB, which base64url and JSON enlarge. */
const attestationLimitBytes = 64 * 1_024;

export function passkeyRoutes(services: Runtime): Route[] {
  return [
    route('GET /app/account/passkeys', {
      audience: 'account',
      answers: { 200: PasskeyList },
      handle: async ({ signedIn }) => {
        const passkeys = await listPasskeys(services.database.pool, signedIn);
        return { body: { passkeys: passkeys.map(passkeyView) } };
      },
    }),
    route('POST /app/account/passkeys/options', {
      audience: 'account',
      answers: { 200: PasskeyOptions },
      handle: async ({ signedIn }) => ({
        body: await startPasskeyRegistration(services, signedIn.accountId),
      }),
    }),
    route('POST /app/account/passkeys', {
      audience: 'account',
      audit: 'account.passkey_added',
      body: AddPasskeyRequest,
      admission: { bodyMaxBytes: attestationLimitBytes },
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
    route('PUT /app/account/passkeys/:id', {
      ids: { id: 'pky' },
      audience: 'account',
      audit: 'account.passkey_renamed',
      body: RenamePasskeyRequest,
      answers: { 200: Passkey },
      handle: async ({ signedIn, by, ids, body }) => {
        const { accountId } = signedIn;
        return {
          body: passkeyView(await renamePasskey(services, { accountId, passkeyId: ids.id }, by, body.name)),
        };
      },
    }),
    route('DELETE /app/account/passkeys/:id', {
      ids: { id: 'pky' },
      audience: 'account',
      audit: 'account.passkey_removed',
      answers: { 200: Deleted },
      handle: async ({ signedIn, by, ids }) => {
        await removePasskey(services, { accountId: signedIn.accountId, passkeyId: ids.id }, by);
        return { body: { deleted: true } };
      },
    }),
  ];
}

function passkeyView(passkey: PasskeyRow): Passkey {
  return {
    id: publicId('pky', passkey.id),
    name: passkey.name,
    created_at: passkey.created_at.toISOString(),
    last_used_at: passkey.last_used_at?.toISOString() ?? null,
  };
}
