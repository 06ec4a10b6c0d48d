import { allows } from '#contract/permissions.ts';
import { RestoreState, ResumeRequest } from '#contract/restore.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { forbidden } from '#server/platform/app-error.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { findFirstTeam } from '#server/teams/team/team-store.ts';
import { readRestoreState, resumeRestore } from './resume-restore.ts';

/** Routes of the restore hold, for the banner of every page (specification sections 10.8 and 12.3). */
export function restoreRoutes(services: Runtime): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/teams/:team_id/restore',
      audience: 'team',
      permission: 'team:read',
      answers: { 200: RestoreState },
      handle: async ({ principal }) => {
        const mayResume =
          allows(principal.permissions, 'restore:resume') && (await isFirstTeam(services, principal.teamId));
        return { body: await readRestoreState(services, mayResume) };
      },
    }),
    route({
      method: 'POST',
      path: '/app/teams/:team_id/restore/resume',
      audience: 'team',
      permission: 'restore:resume',
      audit: 'restore.resumed',
      body: ResumeRequest,
      answers: { 200: RestoreState },
      handle: async ({ principal, body, by }) => {
        if (services.restoreHold.isHeld && !(await isFirstTeam(services, principal.teamId))) {
          throw forbidden(
            'The restore hold concerns all teams of this server. Ask an owner of its first team, or its operator, to resume.',
          );
        }
        await resumeRestore(services, by, {
          cancelMessages: body.cancel_messages ?? false,
          skipDeliveries: body.skip_deliveries ?? false,
        });
        return { body: await readRestoreState(services, true) };
      },
    }),
  ];
}

async function isFirstTeam({ database }: Pick<Runtime, 'database'>, teamId: TeamId): Promise<boolean> {
  return (await findFirstTeam(database.pool))?.id === teamId;
}
