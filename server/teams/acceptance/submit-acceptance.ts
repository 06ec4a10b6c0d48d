import { AppError } from '#server/platform/app-error.ts';
import { type Acceptance, type AcceptanceServices, acceptInvitation } from './accept-invitation.ts';
import { resolveDoubleSubmit } from './double-submit.ts';

/**
 * Accepts an invitation by a submit of its page's form. An earlier submit of the same form may have accepted it, or
 * created the account of its address. Then this submit succeeds, too.
 * @returns the set-cookie headers of a session; empty for a signed-in person
 * @throws AppError as acceptInvitation does
 */
export async function submitAcceptance(
  services: AcceptanceServices,
  acceptance: Acceptance & { readonly formToken: string },
): Promise<string[]> {
  try {
    return (await acceptInvitation(services, acceptance)).cookies;
  } catch (error) {
    const mayBeRepeat = error instanceof AppError && (error.status === 404 || error.status === 409);
    const cookies = mayBeRepeat ? await resolveDoubleSubmit(services, acceptance) : undefined;
    if (cookies) return cookies;
    throw error;
  }
}
