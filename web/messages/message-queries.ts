import type { Message, MessageLog } from '#contract/message.ts';
import type { Timeline } from '#contract/timeline.ts';
import { listQuery } from '#web/api/lists.ts';
import { isOlderId } from '#web/api/loaded-list.ts';
import { readTeam, teamQuery, teamRequest } from '#web/api/team-requests.ts';
import { type MessageFilters, mergeSources, sourcesOf } from './message-filters.ts';

export const messagesQuery = (teamId: string, { status, direction, contact }: MessageFilters) =>
  listQuery([teamId, 'message', 'log', { status, direction, contact }], {
    read: async (cursor, signal) => {
      const read = (side: { readonly from?: string; readonly to?: string }) =>
        readTeam<MessageLog>(teamId, '/messages', { status, direction, ...side, cursor }, signal);
      return mergeSources(await Promise.all(sourcesOf({ contact }).map(read)));
    },
    rowsOf: ({ messages }) => messages,
    isOlder: isOlderId,
  });

export const timelineQuery = (teamId: string, id: string) =>
  teamQuery<Timeline>(teamId, 'message', `/messages/${id}/timeline`);

export const cancelMessage = (teamId: string, id: string) =>
  teamRequest<Message>(teamId, 'POST', `/messages/${id}/cancel`, {});
