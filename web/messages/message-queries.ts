import type { Message, MessageLog } from '#contract/message.ts';
import type { Timeline } from '#contract/timeline.ts';
import { request } from '#web/api/request.ts';
import { teamQuery, teamRequest, withQuery } from '#web/api/team-requests.ts';
import { type MessageFilters, mergeSources, sourcesOf } from './message-filters.ts';

/** Search parameters of the page: filters, and the message whose details are open. */
export interface MessagesSearch extends MessageFilters {
  readonly message?: string | undefined;
}

/** Pages of messages, newest first. The live stream keeps them current, so they are not read again one by one. */
export const messagesQuery = (teamId: string, { status, direction, contact }: MessageFilters) => ({
  queryKey: [teamId, 'message', 'log', { status, direction, contact }],
  queryFn: async ({ pageParam: cursor, signal }: { pageParam: string; signal: AbortSignal }) => {
    const read = (side: { readonly from?: string; readonly to?: string }) =>
      request<MessageLog>(
        'GET',
        withQuery(`/app/teams/${teamId}/messages`, { status, direction, ...side, cursor }),
        { signal },
      );
    return mergeSources(await Promise.all(sourcesOf({ contact }).map(read)));
  },
  initialPageParam: '',
  getNextPageParam: (page: MessageLog) => (page.has_more ? page.cursor : undefined),
});

export const timelineQuery = (teamId: string, id: string) =>
  teamQuery<Timeline>(teamId, 'message', `/messages/${id}/timeline`);

export const cancelMessage = (teamId: string, id: string) =>
  teamRequest<Message>(teamId, 'POST', `/messages/${id}/cancel`, {});
