import type { AuditEntry, AuditPage, AuditQuery } from '#contract/audit.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import type { AuditRow } from './audit-store.ts';

/**
 * A page of audit entries, newest first.
 * @param read returns at most `limit` entries with ids below `before`
 * @param show removes the fields that the reader may not see
 * @throws 400, param cursor
 */
export async function auditPage(
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
