import { PublishedShortcuts } from '#contract/published-shortcuts.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { type InstallServices, publishedForms } from './install-way.ts';

/** The route for what the dashboard says before a phone is connected: which shortcuts are published. */
export function publishedShortcutsRoutes(services: InstallServices): Route[] {
  return [
    route('GET /app/teams/:team_id/shortcuts', {
      audience: 'team',
      permission: 'numbers:read',
      answers: { 200: PublishedShortcuts },
      handle: async () => {
        const ways = await publishedForms(services);
        return { body: { ios_26: ways[26], ios_27: ways[27] } };
      },
    }),
  ];
}
