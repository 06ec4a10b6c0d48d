import type { Passkey } from '#contract/account.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { PasskeyRow } from './passkey-store.ts';

export function passkeyView(passkey: PasskeyRow): Passkey {
  return {
    id: publicId('pky', passkey.id),
    name: passkey.name,
    created_at: passkey.created_at.toISOString(),
    last_used_at: passkey.last_used_at?.toISOString() ?? null,
  };
}
