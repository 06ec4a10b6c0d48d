import type { Static } from 'typebox';
import type {
  NumberDetail,
  NumberList,
  NumberResource,
  SetupLink,
  UpdatedNumber,
  UpdateNumberRequest,
} from '#contract/number.ts';
import type { PublishedShortcuts } from '#contract/published-shortcuts.ts';
import { queryClient } from '#web/api/query-client.ts';
import { teamQuery, teamRequest } from '#web/api/team-requests.ts';

export const numbersQuery = (teamId: string) =>
  teamQuery<Static<typeof NumberList>>(teamId, 'number', '/numbers');

/** The interval of reads while a page waits for the first poll of an iPhone. */
export const firstPollRereadMs = 2_000;

export const numberQuery = (teamId: string, id: string) =>
  teamQuery<NumberDetail>(teamId, 'number', `/numbers/${encodeURIComponent(id)}`);

export const publishedShortcutsQuery = (teamId: string) =>
  teamQuery<PublishedShortcuts>(teamId, 'team', '/shortcuts');

export const verifyNumber = (teamId: string, phoneNumber: string) =>
  teamRequest<Static<typeof SetupLink>>(teamId, 'POST', '/numbers/verify', { phone_number: phoneNumber });

export const reconnectNumber = (teamId: string, id: string) =>
  teamRequest<Static<typeof SetupLink>>(teamId, 'POST', `/numbers/${id}/reconnect`);

export const simulateNumber = (teamId: string) =>
  teamRequest<NumberResource>(teamId, 'POST', '/numbers/simulated', {});

export const updateNumber = (teamId: string, id: string, changed: UpdateNumberRequest) =>
  teamRequest<UpdatedNumber>(teamId, 'PUT', `/numbers/${id}`, changed);

export const deleteNumber = (teamId: string, id: string) => teamRequest(teamId, 'DELETE', `/numbers/${id}`);

export const rereadNumbers = (teamId: string) =>
  queryClient.invalidateQueries({ queryKey: [teamId, 'number'] });
