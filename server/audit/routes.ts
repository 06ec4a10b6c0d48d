import { type AuditEntry, AuditPage, AuditQuery } from '#contract/audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { publicId } from '#server/platform/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { type AuditRow, listAccountAudit, listTeamAudit } from './audit.ts';

/**
 * A page of audit entries, newest first.
 * @param read returns at most `limit` entries with ids below `before`
 * @param show removes the fields that the reader may not see
 * @throws 400, param cursor
 */
async function auditPage(
  query: AuditQuery,
  read: (before: string, limit: number) => Promise<AuditRow[]>,
  show: (row: AuditRow) => AuditRow = (row) => row,
): Promise<AuditPage> {
  const { rows, ...page } = await readPage('aud', query, read);
  return { entries: rows.map((row) => auditEntry(show(row))), ...page };
}

function auditEntry(row: AuditRow): AuditEntry {
  return {
    id: publicId('aud', row.id),
    at: row.created_at.toISOString(),
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: row.target,
    details: { ...row.details },
    outcome: row.outcome,
    error_code: row.error_code ?? '',
    ip: row.ip,
    request_id: row.request_id,
  };
}

export function auditRoutes({ database }: Runtime): Route[] {
  return [
    route('GET /app/teams/:team_id/audit', {
      audience: 'team',
      permission: 'audit:read',
      query: AuditQuery,
      answers: { 200: AuditPage },
      handle: async ({ principal, query }) => ({
        body: await auditPage(query, (before, limit) =>
          listTeamAudit(database.pages, { teamId: principal.teamId, before, limit }),
        ),
      }),
    }),
    route('GET /app/account/audit', {
      audience: 'account',
      query: AuditQuery,
      answers: { 200: AuditPage },
      handle: async ({ signedIn, query }) => ({
        body: await auditPage(
          query,
          (before, limit) =>
            listAccountAudit(database.pages, { accountId: signedIn.accountId, before, limit }),
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
