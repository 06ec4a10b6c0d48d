import type { Message, MessageLog } from '#contract/message.ts';
import type { Timeline } from '#contract/timeline.ts';
import { pagesQuery, readTeam, teamQuery, teamRequest } from '#web/api/team-requests.ts';
import { type MessageFilters, mergeSources, sourcesOf } from './message-filters.ts';

/** Search parameters of the page: filters, and the message whose details are open. */
export interface MessagesSearch extends MessageFilters {
  readonly message?: string | undefined;
}

/** Pages of messages, newest first. The live stream keeps them current, so they are not read again one by one. */
export const messagesQuery = (teamId: string, { status, direction, contact }: MessageFilters) =>
  pagesQuery([teamId, 'message', 'log', { status, direction, contact }], async (cursor, signal) => {
    const read = (side: { readonly from?: string; readonly to?: string }) =>
      readTeam<MessageLog>(teamId, '/messages', { status, direction, ...side, cursor }, signal);
    return mergeSources(await Promise.all(sourcesOf({ contact }).map(read)));
  });

export const timelineQuery = (teamId: string, id: string) =>
  teamQuery<Timeline>(teamId, 'message', `/messages/${id}/timeline`);

export const cancelMessage = (teamId: string, id: string) =>
  teamRequest<Message>(teamId, 'POST', `/messages/${id}/cancel`, {});
