import { holdAccount } from '#server/accounts/account-store.ts';
import { type Entrance, openSession } from '#server/accounts/open-session.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import { findPressOf } from './invitation-store.ts';

/** A double click comes within it. */
const pressedAgainMs = 60_000;

interface Press {
  readonly token: string;
  /** The form's own token; '' where it had none. */
  readonly press: string;
  readonly signedIn: SignedIn | undefined;
  readonly request: Entrance;
}

/**
 * Lets in who pressed Join twice: a browser shows what the second press is answered, and forgets the first one's cookie.
 * The form has a token of its own, which nobody knows whom that page was not shown to, and the acceptance keeps its hash:
 * so another holder of the link does not come in by it (specification section 12.4).
 * @returns the headers set-cookie, none for who is signed in; undefined where it was another form, is a minute ago, or
 * others were shut out of the account since
 */
export async function pressAgain(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'>,
  { token, press, signedIn, request }: Press,
): Promise<string[] | undefined> {
  if (press === '') return undefined;
  return services.database.transaction(async (trx) => {
    const since = services.clock.in(-pressedAgainMs);
    const first = await findPressOf(trx, sha256(token), sha256(press), since);
    const account = first && (await holdAccount(trx, first.pressed_by));
    if (!account) return undefined;
    if (signedIn?.accountId === account.id) return [];
    // Whoever was shut out of the account since then must not come back by it.
    const { browsers_known_since: shutOutAt } = account;
    if (shutOutAt !== null && shutOutAt >= first.accepted_at) return undefined;
    return openSession(trx, services, account, 'invitation', request);
  });
}
