import type { Static } from 'typebox';
import type { ApiKeyList, CreateKeyRequest, MadeApiKey } from '#contract/api-key.ts';
import { teamQuery, teamRequest } from '#web/api/team-requests.ts';

export const apiKeysQuery = (teamId: string) => teamQuery<Static<typeof ApiKeyList>>(teamId, 'key', '/keys');

export const createApiKey = (teamId: string, body: CreateKeyRequest) =>
  teamRequest<MadeApiKey>(teamId, 'POST', '/keys', body);

export const revokeApiKey = (teamId: string, id: string) => teamRequest(teamId, 'DELETE', `/keys/${id}`);
