import type { AuditPage } from '#contract/audit.ts';
import { pagesQuery, readTeam } from '#web/api/team-requests.ts';

export const auditQuery = (teamId: string) =>
  pagesQuery([teamId, 'audit', 'pages'], (cursor, signal) =>
    readTeam<AuditPage>(teamId, '/audit', { cursor, limit: 50 }, signal),
  );
