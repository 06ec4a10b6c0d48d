import type { AuditPage } from '#contract/audit.ts';
import { request } from '#web/api/request.ts';
import { withQuery } from '#web/api/team-requests.ts';

export const auditQuery = (teamId: string) => ({
  queryKey: [teamId, 'audit', 'pages'],
  queryFn: ({ pageParam, signal }: { readonly pageParam: string; readonly signal: AbortSignal }) =>
    request<AuditPage>('GET', withQuery(`/app/teams/${teamId}/audit`, { cursor: pageParam, limit: 50 }), {
      signal,
    }),
  initialPageParam: '',
  getNextPageParam: (page: AuditPage) => (page.has_more ? page.cursor : undefined),
});
