import { AuditPage, AuditQuery } from '#contract/audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { auditPage } from './audit-page.ts';
import { type AuditRow, listAccountAudit, listTeamAudit } from './audit-store.ts';

/** Routes of the audit logs of a team and of the signed-in account (specification section 12.6). */
export function auditRoutes({ database }: Runtime): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/teams/:team_id/audit',
      audience: 'team',
      permission: 'audit:read',
      query: AuditQuery,
      answers: { 200: AuditPage },
      handle: async ({ principal, query }) => ({
        body: await auditPage(query, (before, limit) =>
          listTeamAudit(database.pages, principal.teamId, before, limit),
        ),
      }),
    }),
    route({
      method: 'GET',
      path: '/app/account/audit',
      audience: 'account',
      query: AuditQuery,
      answers: { 200: AuditPage },
      handle: async ({ signedIn, query }) => ({
        body: await auditPage(
          query,
          (before, limit) => listAccountAudit(database.pages, signedIn.accountId, before, limit),
          (row) => withoutOthers(row, signedIn.actor.name),
        ),
      }),
    }),
  ];
}

/**
 * Hides the names, IP addresses and request ids of other people from an entry that an account reads about itself.
 * @param email the account's address, which is the actor's name in entries of all teams
 */
function withoutOthers(row: AuditRow, email: string): AuditRow {
  const isPerson = row.actor_kind === 'account' || row.actor_kind === 'member';
  if (row.actor_kind === 'server' || (isPerson && row.actor_name === email)) return row;
  return { ...row, actor_name: '', ip: '', request_id: '' };
}
