import type { RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import { changesChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Slice } from '#server/database/slice.ts';
import { Changes } from './changes.ts';
import { conversationRoutes } from './conversations/routes.ts';
import { LiveStreams } from './live/live-streams.ts';
import { plansRoutes } from './plans-routes.ts';
import { dashboardRoutes } from './routes.ts';
import { teamSearchRoutes } from './search/routes.ts';
import { pageFileRoutes, webRoutes } from './web/web-routes.ts';

/** The dashboard: its pages, what they show, and the changes that they follow. */
export function openDashboard(services: Runtime & { readonly requireSession: RequireSession }) {
  const changes = new Changes(services.logger);
  const liveStreams = new LiveStreams({ ...services, changes });
  return {
    changes,
    routes: [
      ...dashboardRoutes({ ...services, liveStreams }),
      ...webRoutes(services),
      ...pageFileRoutes(),
      ...conversationRoutes(services),
      ...teamSearchRoutes(services),
      ...plansRoutes(services),
    ],
    channels: { [changesChannel]: (payload: string) => changes.onNotification(payload) },
    holds: [liveStreams],
  } satisfies Slice & { changes: Changes };
}
