import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useParams } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import { waitingQuery } from '#web/conversations/conversation-queries.ts';
import { countText } from '#web/conversations/unread.ts';
import { useBrowserSetting } from '#web/kit/browser-setting.ts';
import { classNames } from '#web/kit/class-names.ts';
import { LimitHelp } from '#web/kit/error-note.tsx';
import { Menu, MenuLink } from '#web/kit/menu.tsx';
import { Skeleton } from '#web/kit/skeleton.tsx';
import { useLiveStream } from '#web/live/use-live-stream.ts';
import { notificationSettings } from '#web/notifications/notification-settings.ts';
import { RestoreBanner } from '#web/restore/restore-banner.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Brand } from './brand.tsx';
import { rememberTeam } from './last-team.ts';
import { allowed, mainNavigation, moreNavigation, type NavigationItem } from './navigation.ts';
import { NotFound } from './not-found.tsx';
import { PlanHelp } from './plan-help.tsx';
import { type CurrentTeam, useFoundTeam, useTeam } from './session.ts';
import { ShellKeys } from './shell-keys.tsx';
import { texts } from './texts.ts';
import { useWaitingSigns } from './waiting-signs.ts';

/** The frame of a team's pages: navigation at the left, on a phone at the bottom. */
export function AppShell(): ReactNode {
  const team = useFoundTeam();
  const teamId = team?.id;
  useEffect(() => {
    if (teamId) rememberTeam(teamId);
  }, [teamId]);
  return team ? <Frame key={team.id} team={team} /> : <NotFound />;
}

const Notifier = lazy(async () => ({
  default: (await import('#web/notifications/notifier.tsx')).Notifier,
}));

function Frame({ team }: { readonly team: CurrentTeam }): ReactNode {
  const { isAway } = useLiveStream(team.id);
  useWaitingSigns();
  const { isOn, hasSound } = useBrowserSetting(notificationSettings);
  const isThread =
    useParams({ from: '/teams/$teamId/conversations/$phoneNumber/$contact', shouldThrow: false }) !==
    undefined;
  // On a phone a conversation has the whole window: its head leads back.
  const besideThread = isThread && 'max-md:hidden';
  return (
    <div className="flex min-h-dvh">
      <a
        href="#content"
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-lg bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
      >
        {texts.toContent}
      </a>
      <aside className="sticky top-0 flex h-dvh w-60 shrink-0 flex-col border-r border-line bg-surface max-md:hidden print:hidden">
        <Link
          to="/teams/$teamId"
          params={{ teamId: team.id }}
          className="mx-3 mt-3.5 mb-3 self-start rounded-lg px-2 py-1"
        >
          <Brand />
        </Link>
        <nav aria-label={texts.pages} className="flex flex-1 flex-col gap-0.5 overflow-y-auto px-3">
          <SideLinks team={team} items={mainNavigation} />
          {moreNavigation.length > 0 && <hr className="mx-2 my-2.5 border-line" />}
          <SideLinks team={team} items={moreNavigation} />
        </nav>
        <div className="border-t border-line p-3">
          <AccountMenu />
        </div>
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <header
          className={classNames(
            'sticky top-0 z-30 flex h-14 items-center justify-between border-b border-line bg-surface px-4 md:hidden print:hidden',
            besideThread,
          )}
        >
          <Brand />
          <AccountMenu isSmall />
        </header>
        {isAway && (
          <p role="status" className="bg-warn-tint px-4 py-2 text-center text-warn-ink">
            {texts.noConnection}
          </p>
        )}
        <RestoreBanner teamId={team.id} />
        <ShellKeys />
        <Suspense>{(isOn || hasSound) && team.can('messages:read') && <Notifier />}</Suspense>
        <main
          id="content"
          tabIndex={-1}
          className={classNames(
            'flex min-h-0 flex-1 flex-col outline-none md:pb-0',
            isThread ? 'pb-[env(safe-area-inset-bottom)]' : 'pb-16',
          )}
        >
          <Suspense fallback={<Skeleton lines={6} />}>
            <LimitHelp value={<PlanHelp />}>
              <Outlet />
            </LimitHelp>
          </Suspense>
        </main>
        <nav
          aria-label={texts.pages}
          className={classNames(
            'fixed inset-x-0 bottom-0 z-30 flex print:hidden border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden',
            besideThread,
          )}
        >
          {allowed(team, mainNavigation)
            .filter(({ isOnPhone }) => isOnPhone)
            .map((item) => (
              <PhoneLink key={item.to} item={item} />
            ))}
          <MoreMenu
            items={allowed(team, [...mainNavigation, ...moreNavigation]).filter(
              ({ isOnPhone }) => !isOnPhone,
            )}
          />
        </nav>
      </div>
    </div>
  );
}

const sideLink = classNames(
  'flex items-center gap-2.5 rounded-lg px-2.5 py-[0.4375rem] text-[0.8125rem] font-medium text-quiet',
  'hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-tint aria-[current=page]:text-accent-ink',
);

const tabBarItem =
  'flex h-16 flex-col items-center justify-center gap-1 text-[0.6875rem] font-medium text-quiet';

/** The link to Home is active only at its own address, other links also at addresses below theirs. */
const activeOptions = ({ to }: NavigationItem) => ({ exact: to === '/teams/$teamId' });

function SideLinks({
  team,
  items,
}: {
  readonly team: CurrentTeam;
  readonly items: readonly NavigationItem[];
}) {
  return allowed(team, items).map((item) => (
    <Link
      key={item.to}
      to={item.to}
      params={{ teamId: team.id }}
      activeOptions={activeOptions(item)}
      className={sideLink}
    >
      <item.icon aria-hidden="true" className="size-[1.125rem]" strokeWidth={1.9} />
      {item.text}
      {item.isInbox && <WaitingBadge className="ml-auto" />}
    </Link>
  ));
}

function PhoneLink({ item }: { readonly item: NavigationItem }): ReactNode {
  const params = useParams({ from: '/teams/$teamId' });
  return (
    <Link
      to={item.to}
      params={params}
      activeOptions={activeOptions(item)}
      className={classNames(tabBarItem, 'relative flex-1 aria-[current=page]:text-accent-ink')}
    >
      <item.icon aria-hidden="true" className="size-[1.375rem]" strokeWidth={1.8} />
      {item.text}
      {item.isInbox && <WaitingBadge className="absolute top-1 left-1/2 ml-1" />}
    </Link>
  );
}

function WaitingBadge({ className }: { readonly className: string }): ReactNode {
  const team = useTeam();
  const count = useQuery(waitingQuery(team.id)).data?.waiting_conversations ?? 0;
  if (count === 0) return null;
  return (
    <span
      className={classNames(
        'rounded-full bg-accent px-1.5 text-[0.6875rem] leading-4.5 font-semibold text-on-accent tabular-nums',
        className,
      )}
    >
      {countText(count)}
      <span className="sr-only"> {texts.waiting}</span>
    </span>
  );
}

/** A menu of the pages that the phone's tab bar has no room for. */
function MoreMenu({ items }: { readonly items: readonly NavigationItem[] }): ReactNode {
  const params = useParams({ from: '/teams/$teamId' });
  if (items.length === 0) return null;
  return (
    <Menu
      side="top"
      align="edge"
      className="flex-1"
      trigger={
        <button type="button" className={classNames(tabBarItem, 'w-full')}>
          <Ellipsis aria-hidden="true" className="size-[1.375rem]" strokeWidth={1.8} />
          {texts.more}
        </button>
      }
    >
      {items.map((item) => (
        <MenuLink key={item.to} render={<Link to={item.to} params={params} />}>
          <item.icon aria-hidden="true" />
          {item.text}
        </MenuLink>
      ))}
    </Menu>
  );
}
