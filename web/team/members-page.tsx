import { useQuery } from '@tanstack/react-query';
import { Ellipsis, LogOut, UserCog, UserMinus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Member } from '#contract/member.ts';
import { Avatar } from '#web/kit/avatar.tsx';
import { Badge } from '#web/kit/badge.tsx';
import { IconButton } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { Menu, MenuItem } from '#web/kit/menu.tsx';
import { type Column, Table } from '#web/kit/table.tsx';
import { Time } from '#web/kit/time.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { roleNames } from '#web/shell/role-names.ts';
import { type CurrentTeam, useTeam } from '#web/shell/session.ts';
import { ChangeRoleDialog } from './change-role-dialog.tsx';
import { EndMembershipDialog } from './end-membership-dialog.tsx';
import { InviteButton } from './invite-button.tsx';
import { membersQuery } from './member-queries.ts';
import { TeamFrame } from './team-frame.tsx';
import { texts } from './texts.ts';

export function MembersPage(): ReactNode {
  const team = useTeam();
  const members = useQuery(membersQuery(team.id));
  const administrators = useAdministratorNames();
  const [chosen, setChosen] = useState<{ readonly member: Member; readonly action: MemberAction }>();
  const close = () => setChosen(undefined);
  const owners = members.data?.members.filter(({ role }) => role === 'owner').length ?? 0;
  const actionsOf = (member: Member) => allowedActions(team, member, owners);
  const columns: readonly Column<Member>[] = [
    { head: texts.name, cell: (member) => <Person member={member} isOwn={member.id === team.member_id} /> },
    {
      head: texts.role,
      className: 'w-32 max-md:pl-11',
      cell: ({ role }) => <Badge tone={role === 'owner' ? 'accent' : 'neutral'}>{roleNames[role]}</Badge>,
    },
    {
      head: texts.members.joined,
      className: 'w-36 max-md:pl-11',
      cell: ({ created_at }) => (
        <span className="text-quiet">
          <span className="md:hidden">{texts.members.joined} </span>
          <Time at={created_at} />
        </span>
      ),
    },
    {
      head: texts.actions,
      className: 'w-20 text-right max-md:absolute max-md:top-2 max-md:right-2 max-md:last:pr-0',
      cell: (member) => (
        <MemberMenu
          member={member}
          actions={actionsOf(member)}
          onChoose={(action) => setChosen({ member, action })}
        />
      ),
    },
  ];
  return (
    <TeamFrame actions={team.can('team:write') && <InviteButton />}>
      <Card isFlush>
        <Loaded query={members}>
          {(list) => (
            <Table label={texts.parts.members} columns={columns} rows={list.members} keyOf={({ id }) => id} />
          )}
        </Loaded>
      </Card>
      {!team.can('team:write') && <p className="mt-3 text-quiet">{texts.members.ask({ administrators })}</p>}
      {team.role === 'owner' && owners === 1 && <p className="mt-3 text-quiet">{texts.members.onlyOwner}</p>}
      {team.role === 'admin' && <p className="mt-3 text-quiet">{texts.members.ownersOnly}</p>}
      {chosen?.action === 'change-role' && <ChangeRoleDialog member={chosen.member} onClose={close} />}
      {chosen?.action === 'end' && <EndMembershipDialog member={chosen.member} onClose={close} />}
    </TeamFrame>
  );
}

function Person({ member, isOwn }: { readonly member: Member; readonly isOwn: boolean }) {
  return (
    <div className="flex items-center gap-3 max-md:pr-12">
      <Avatar name={member.name} />
      <div className="min-w-0 leading-snug">
        <p className="truncate font-medium">
          <bdi>{member.name}</bdi>
          {isOwn && <span className="font-normal text-quiet"> {texts.members.you}</span>}
        </p>
        <p className="truncate text-[0.8125rem] text-quiet">{member.email}</p>
      </div>
    </div>
  );
}

function MemberMenu({
  member,
  actions,
  onChoose,
}: {
  readonly member: Member;
  readonly actions: { readonly changesRole: boolean; readonly ends: false | 'leave' | 'remove' };
  readonly onChoose: (action: MemberAction) => void;
}) {
  if (!actions.changesRole && !actions.ends) return null;
  return (
    <Menu
      trigger={
        <IconButton label={texts.members.actionsFor(member)}>
          <Ellipsis />
        </IconButton>
      }
    >
      {actions.changesRole && (
        <MenuItem onSelect={() => onChoose('change-role')}>
          <UserCog aria-hidden="true" /> {texts.members.changeRole}
        </MenuItem>
      )}
      {actions.ends && (
        <MenuItem isDangerous onSelect={() => onChoose('end')}>
          {actions.ends === 'leave' ? <LogOut aria-hidden="true" /> : <UserMinus aria-hidden="true" />}
          {actions.ends === 'leave' ? texts.members.leave : texts.members.remove}
        </MenuItem>
      )}
    </Menu>
  );
}

type MemberAction = 'change-role' | 'end';

/**
 * The actions that a person may take on a member. Only owners change owners, an owner
 * cannot be removed, and the last owner stays.
 * @param owners the number of owners in the team
 */
function allowedActions(
  team: CurrentTeam,
  member: Member,
  owners: number,
): { readonly changesRole: boolean; readonly ends: false | 'leave' | 'remove' } {
  const isOwner = member.role === 'owner';
  const isLastOwner = isOwner && owners === 1;
  const isOwn = member.id === team.member_id;
  const mayChange = team.can('team:write') && (!isOwner || team.can('owners:manage'));
  const mayRemove = team.can('team:write') && !isOwner;
  return {
    changesRole: mayChange && !isLastOwner,
    ends: isOwn ? !isLastOwner && 'leave' : mayRemove && 'remove',
  };
}
