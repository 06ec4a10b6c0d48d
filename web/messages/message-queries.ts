import type { Message, MessageList, MessageStatus } from '#contract/message.ts';
import type { Timeline } from '#contract/timeline.ts';
import { request } from '#web/api/request.ts';
import { teamQuery, teamRequest, withQuery } from '#web/api/team-requests.ts';

/** Filters of the log, as they stand in the address. */
export interface MessageFilters {
  readonly status?: MessageStatus;
  readonly direction?: 'inbound' | 'outbound';
  /** A sender: a number, or any handle. */
  readonly from?: string;
  readonly to?: string;
  /** The message whose details are open. */
  readonly message?: string;
}

/** Pages of messages, newest first. */
export const messagesQuery = (teamId: string, { status, direction, from, to }: MessageFilters) => ({
  queryKey: [teamId, 'message', 'log', status ?? '', direction ?? '', from ?? '', to ?? ''],
  queryFn: ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }) =>
    request<MessageList>(
      'GET',
      withQuery(`/app/teams/${teamId}/messages`, { status, direction, from, to, cursor: pageParam }),
      { signal },
    ),
  initialPageParam: '',
  getNextPageParam: (page: MessageList) => (page.has_more ? page.cursor : undefined),
});

export const timelineQuery = (teamId: string, id: string) =>
  teamQuery<Timeline>(teamId, 'message', `/messages/${id}/timeline`);

export const cancelMessage = (teamId: string, id: string) =>
  teamRequest<Message>(teamId, 'POST', `/messages/${id}/cancel`, {});
