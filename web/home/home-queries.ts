import type { Home } from '#contract/home.ts';
import { teamQuery } from '#web/api/team-requests.ts';

/** The state of the whole team: each number with its likely cause, what waits, what fails. */
export const homeQuery = (teamId: string) => teamQuery<Home>(teamId, 'number', '/home');
