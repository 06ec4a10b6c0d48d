import type { Message, MessageLog } from '#contract/message.ts';
import type { Timeline } from '#contract/timeline.ts';
import { readHandle } from '#contract/typed-handle.ts';
import { listQuery } from '#web/api/lists.ts';
import { isOlderId } from '#web/api/loaded-list.ts';
import { readTeam, teamQuery, teamRequest } from '#web/api/team-requests.ts';
import { isSearched, type MessageFilters, mergeSources, sourcesOf } from './message-filters.ts';

export const messagesQuery = (teamId: string, { status, direction, contact: typed = '' }: MessageFilters) => {
  const contact = readHandle(typed, undefined);
  return listQuery([teamId, 'message', 'log', { status, direction, contact }], {
    read: async (cursor, signal) => {
      const read = (side: { readonly from?: string; readonly to?: string }) =>
        readTeam<MessageLog>(teamId, '/messages', { status, direction, ...side, cursor }, signal);
      const pages = sourcesOf({ contact }).map(read);
      if (isSearched(contact)) pages.push(search(teamId, { status, direction, contact, cursor }, signal));
      return mergeSources(await Promise.all(pages));
    },
    rowsOf: ({ messages }) => messages,
    isOlder: isOlderId,
  });
};

/** Searches texts and last digits. The search knows no other filters. */
async function search(
  teamId: string,
  { status, direction, contact: q, cursor }: MessageFilters & { readonly cursor: string },
  signal: AbortSignal | undefined,
): Promise<MessageLog> {
  const page = await readTeam<MessageLog>(teamId, '/messages/search', { q, cursor }, signal);
  const messages = page.messages.filter(
    (one) => (!status || one.status === status) && (!direction || one.direction === direction),
  );
  return { ...page, messages };
}

export const timelineQuery = (teamId: string, id: string) =>
  teamQuery<Timeline>(teamId, 'message', `/messages/${id}/timeline`);

export const cancelMessage = (teamId: string, id: string) =>
  teamRequest<Message>(teamId, 'POST', `/messages/${id}/cancel`, {});
