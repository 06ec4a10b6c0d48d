import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { basePath } from './api/base-path.ts';
import { readSearch, type TypedSearch, writeSearch } from './api/search-parameters.ts';
import { readContactsSearch } from './contacts/contacts-search.ts';
import { readConversationFilters } from './conversations/conversation-filters.ts';
import type { ConversationKey } from './conversations/conversation-queries.ts';
import { readAhead } from './conversations/read-ahead.ts';
import { readMessagesSearch } from './messages/messages-search.ts';
import { readNumberSearch, readNumbersSearch } from './numbers/numbers-search.ts';
import { AppShell } from './shell/app-shell.tsx';
import { lastTeamId } from './shell/last-team.ts';
import { NoTeam } from './shell/no-team.tsx';
import { NotFound } from './shell/not-found.tsx';
import { FrameFailure, PageFailure } from './shell/page-failure.tsx';
import { useOverview } from './shell/session.ts';
import { readUsageSearch } from './usage/months.ts';
import { readLogAddress } from './webhooks/log-address.ts';

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: FrameFailure,
});

const start = createRoute({ getParentRoute: () => root, path: '/', component: Start });

/** Opens the team that this browser opened last. */
function Start(): ReactNode {
  const { teams } = useOverview();
  const team = teams.find(({ id }) => id === lastTeamId()) ?? teams[0];
  return team ? <Navigate to="/teams/$teamId" params={{ teamId: team.id }} replace /> : <NoTeam />;
}

const team = createRoute({ getParentRoute: () => root, path: '/teams/$teamId', component: AppShell });

// Each page is a separate file, loaded when the page is opened or the pointer is on a link to it.
const page = <const Path extends string, Search extends object = object>(
  path: Path,
  component: ReturnType<typeof lazyRouteComponent>,
  validateSearch?: (search: TypedSearch) => Search,
) =>
  createRoute({ getParentRoute: () => team, path, component, validateSearch, errorComponent: PageFailure });

const conversations = page(
  'conversations',
  lazyRouteComponent(() => import('./conversations/conversations-page.tsx'), 'ConversationsPage'),
  readConversationFilters,
);
const conversation = createRoute({
  getParentRoute: () => conversations,
  path: '$phoneNumber/$contact',
  // A pointer on the link reads the conversation ahead. The page does not wait for it.
  loader: ({ params: { teamId, ...key } }: { params: ConversationKey & { readonly teamId: string } }) =>
    readAhead(teamId, key),
  component: lazyRouteComponent(() => import('./conversations/thread.tsx'), 'OpenThread'),
  errorComponent: PageFailure,
});

const pages = [
  page(
    '/',
    lazyRouteComponent(() => import('./home/home-page.tsx'), 'HomePage'),
  ),
  conversations.addChildren([conversation]),
  page(
    'contacts',
    lazyRouteComponent(() => import('./contacts/contacts-page.tsx'), 'ContactsPage'),
    readContactsSearch,
  ),
  page(
    'messages',
    lazyRouteComponent(() => import('./messages/messages-page.tsx'), 'MessagesPage'),
    readMessagesSearch,
  ),
  page(
    'numbers/$id',
    lazyRouteComponent(() => import('./numbers/number-page.tsx'), 'NumberPage'),
    readNumberSearch,
  ),
  page(
    'numbers',
    lazyRouteComponent(() => import('./numbers/numbers-page.tsx'), 'NumbersPage'),
    readNumbersSearch,
  ),
  page(
    'webhooks',
    lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  ),
  page(
    'webhooks/$webhookId',
    lazyRouteComponent(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
    readLogAddress,
  ),
  page(
    'keys',
    lazyRouteComponent(() => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  ),
  page(
    'team',
    lazyRouteComponent(() => import('./team/members-page.tsx'), 'MembersPage'),
  ),
  page(
    'team/invitations',
    lazyRouteComponent(() => import('./team/invitations-page.tsx'), 'InvitationsPage'),
  ),
  page(
    'team/audit',
    lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  ),
  page(
    'usage',
    lazyRouteComponent(() => import('./usage/usage-page.tsx'), 'UsagePage'),
    readUsageSearch,
  ),
  page(
    'settings',
    lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
  ),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([start, team.addChildren(pages)]),
  basepath: basePath === '' ? '/' : basePath,
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
