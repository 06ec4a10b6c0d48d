import { useNavigate } from '@tanstack/react-router';
import { BookOpen, Check, ChevronsUpDown, LogOut } from 'lucide-react';
import type { ReactNode } from 'react';
import { basePath } from '#web/api/base-path.ts';
import { request } from '#web/api/request.ts';
import { deleteDrafts } from '#web/conversations/draft-storage.ts';
import { Avatar } from '#web/kit/avatar.tsx';
import { Menu, MenuHeading, MenuItem, MenuLink, MenuSeparator } from '#web/kit/menu.tsx';
import { notify } from '#web/kit/toast.tsx';
import { roleNames } from './role-names.ts';
import { useFoundTeam, useOverview } from './session.ts';
import { texts } from './texts.ts';

/** The menu of the signed-in person: other teams, API reference, sign-out. */
export function AccountMenu({ isSmall = false }: { readonly isSmall?: boolean }): ReactNode {
  const { account, teams } = useOverview();
  const current = useFoundTeam();
  const navigate = useNavigate();
  return (
    <Menu
      side={isSmall ? 'bottom' : 'top'}
      align={isSmall ? 'end' : 'start'}
      trigger={isSmall ? <SmallTrigger /> : <Trigger />}
    >
      <MenuHeading>{account.email}</MenuHeading>
      {teams.length > 1 && (
        <>
          {teams.map((team) => (
            <MenuItem
              key={team.id}
              onSelect={() => void navigate({ to: '/teams/$teamId', params: { teamId: team.id } })}
            >
              <span className="min-w-0 flex-1 truncate">{team.name}</span>
              {team.id === current?.id && <Check aria-label={texts.account.openNow} />}
            </MenuItem>
          ))}
          <MenuSeparator />
        </>
      )}
      <MenuLink render={<a href={`${basePath}/docs`} />}>
        <BookOpen aria-hidden="true" /> {texts.account.reference}
      </MenuLink>
      <MenuItem onSelect={() => void signOut()}>
        <LogOut aria-hidden="true" /> {texts.account.signOut}
      </MenuItem>
    </Menu>
  );
}

async function signOut(): Promise<void> {
  try {
    await request('POST', '/app/account/sign-out', {});
    deleteDrafts(localStorage);
    location.assign(`${basePath}/sign-in`);
  } catch (error) {
    notify(texts.account.stillSignedIn, (error as Error).message);
  }
}

function Trigger(props: object): ReactNode {
  const { account } = useOverview();
  const team = useFoundTeam();
  return (
    <button
      type="button"
      className="flex w-full items-center gap-2.5 rounded-lg p-1.5 text-left hover:bg-sunken"
      {...props}
    >
      <Avatar name={account.name} />
      <span className="min-w-0 flex-1 leading-tight">
        <span className="block truncate text-[0.8125rem] font-medium">{account.name}</span>
        <span className="block truncate text-xs text-quiet">{team?.name}</span>
        <span className="block text-xs text-quiet">{team && roleNames[team.role]}</span>
      </span>
      <ChevronsUpDown aria-hidden="true" className="size-4 text-quiet" />
    </button>
  );
}

function SmallTrigger(props: object): ReactNode {
  const { account } = useOverview();
  return (
    <button type="button" className="-mr-1.5 rounded-full p-1.5" {...props}>
      <Avatar name={account.name} />
      <span className="sr-only">{texts.account.accountOf({ name: account.name })}</span>
    </button>
  );
}
