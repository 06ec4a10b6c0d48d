import { EraseContactRequest, Erasure } from '#contract/erasure.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { eraseContact } from './erase-contact.ts';

/** How long the request waits for the end of an erasure; most end within this time. */
const erasureWaitMs = 4_000;

/** Owners and admins erase a contact (section 12.14). The handle is in the body, never in a path. */
export function erasureRoutes(services: Runtime): Route[] {
  return [
    route('POST /app/teams/:team_id/erasures', {
      audience: 'team',
      permission: 'contacts:erase',
      audit: 'contact.erased',
      body: EraseContactRequest,
      answers: { 200: Erasure },
      handle: async ({ principal, body, by }) => {
        const { contact, whole_contact: wholeContact = false, dry_run: dryRun = false } = body;
        const request = { contact, wholeContact, dryRun, waitMs: erasureWaitMs };
        return { body: await eraseContact(services, principal.teamId, request, by) };
      },
    }),
  ];
}
