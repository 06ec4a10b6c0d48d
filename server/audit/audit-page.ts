import type { AuditEntry, AuditPage, AuditQuery } from '#contract/audit.ts';
import { invalid } from '#server/platform/app-error.ts';
import { parseId, publicId } from '#server/platform/ids/ids.ts';
import type { AuditRow } from './audit-store.ts';

/** The cursor of the first page: greater than every id. */
const newest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * A page of audit entries, newest first.
 * @param read returns at most `limit` entries with ids below `before`
 * @param show removes from an entry what its reader may not see
 * @throws 400, param cursor
 */
export async function auditPage(
  { limit = 50, cursor = '' }: AuditQuery,
  read: (before: string, limit: number) => Promise<AuditRow[]>,
  show: (row: AuditRow) => AuditRow = (row) => row,
): Promise<AuditPage> {
  const before = cursor === '' ? newest : parseId('aud', cursor);
  if (before === undefined)
    throw invalid(
      'cursor',
      'cursor must be the cursor of the page before, or be left out for the first page.',
    );
  const rows = await read(before, limit + 1);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    entries: shown.map((row) => auditEntry(show(row))),
    cursor: last ? publicId('aud', last.id) : '',
    has_more: rows.length > limit,
  };
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
