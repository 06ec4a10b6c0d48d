import type { Home } from '#contract/home.ts';
import type { NumberResource } from '#contract/number.ts';
import { teamQuery, teamRequest } from '#web/api/team-requests.ts';

export const homeQuery = (teamId: string) => teamQuery<Home>(teamId, 'number', '/home');

/** Adds a number whose iPhone the server simulates. */
export const addSimulatedNumber = (teamId: string) =>
  teamRequest<NumberResource>(teamId, 'POST', '/numbers/simulated', {});
