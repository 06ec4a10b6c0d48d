import type { Home } from '#contract/home.ts';
import { teamQuery } from '#web/api/team-requests.ts';

export const homeQuery = (teamId: string) => teamQuery<Home>(teamId, 'number', '/home');
