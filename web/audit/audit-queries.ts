import type { AuditPage } from '#contract/audit.ts';
import { listQuery } from '#web/api/lists.ts';
import { isOlderId } from '#web/api/loaded-list.ts';
import { readTeam } from '#web/api/team-requests.ts';

export const auditQuery = (teamId: string) =>
  listQuery([teamId, 'audit', 'list'], {
    read: (cursor, signal) => readTeam<AuditPage>(teamId, '/audit', { cursor, limit: 50 }, signal),
    rowsOf: ({ entries }) => entries,
    isOlder: isOlderId,
  });
