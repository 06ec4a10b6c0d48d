import type { Static } from 'typebox';
import type { NumberList } from '#contract/number.ts';
import { teamQuery } from '#web/api/team-requests.ts';

export const numbersQuery = (teamId: string) =>
  teamQuery<Static<typeof NumberList>>(teamId, 'number', '/numbers');
