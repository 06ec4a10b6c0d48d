import { EraseContactRequest, Erasure } from '#contract/erasure.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { eraseContact, type OnContactErased } from './erase-contact.ts';

/** How long the request waits for the end of an erasure; most end within this time. */
const waitMs = 4_000;

/**
 * Routes with which owners and admins erase a contact (specification section 12.14). The handle is in the body, never
 * in a path.
 */
export function erasureRoutes(
  services: Runtime & { readonly onContactErased: readonly OnContactErased[] },
): Route[] {
  return [
    route({
      method: 'POST',
      path: '/app/teams/:team_id/erasures',
      audience: 'team',
      permission: 'contacts:erase',
      audit: 'contact.erased',
      body: EraseContactRequest,
      answers: { 200: Erasure },
      handle: async ({ principal, body, by }) => ({
        body: await eraseContact(
          services,
          principal.teamId,
          { contact: body.contact, dryRun: body.dry_run === true, waitMs },
          by,
        ),
      }),
    }),
  ];
}
