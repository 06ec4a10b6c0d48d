import { useMutation } from '@tanstack/react-query';
import { Link, MailOpen, RotateCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ListedInvitation, MadeInvitation } from '#contract/member.ts';
import { useList } from '#web/api/lists.ts';
import { queryClient } from '#web/api/query-client.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { Dialog } from '#web/kit/dialog.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { type Column, Table } from '#web/kit/table.tsx';
import { DueTime } from '#web/kit/time.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { roleNames } from '#web/shell/role-names.ts';
import { useTeam } from '#web/shell/session.ts';
import { InvitationLink } from './invitation-link.tsx';
import {
  invitationsQuery,
  makeInvitationLink,
  resendInvitation,
  revokeInvitation,
} from './invitation-queries.ts';
import { InviteButton } from './invite-button.tsx';
import { TeamFrame } from './team-frame.tsx';
import { texts } from './texts.ts';

export function InvitationsPage(): ReactNode {
  const team = useTeam();
  const invitations = useList(invitationsQuery(team.id));
  const administrators = useAdministratorNames();
  const mayInvite = team.can('team:write');
  const [revoked, setRevoked] = useState<ListedInvitation>();
  const [shown, setShown] = useState<MadeInvitation>();
  const reread = () => queryClient.invalidateQueries({ queryKey: [team.id, 'invitation'] });
  const linking = useMutation({
    mutationFn: ({ mailed, invitation_id: id }: ListedInvitation) =>
      mailed ? resendInvitation(team.id, id) : makeInvitationLink(team.id, id),
    onSuccess: (made) => {
      if (made.accept_url === undefined) notify(texts.invitations.sentAgain, texts.invitations.oldLink);
      else setShown(made);
    },
    onSettled: reread,
  });
  const columns: readonly Column<ListedInvitation>[] = [
    {
      head: texts.email,
      cell: ({ email, mailed }) => (
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium break-all">{email}</span>
          {!mailed && <Badge tone="warn">{texts.invitations.notMailed}</Badge>}
        </span>
      ),
    },
    { head: texts.role, className: 'w-28', cell: ({ role }) => roleNames[role] },
    {
      head: texts.invitations.expires,
      className: 'w-32',
      cell: ({ expires_at }) => (
        <span className="text-quiet">
          <span className="md:hidden">{texts.invitations.expires} </span>
          <DueTime at={expires_at} />
        </span>
      ),
    },
    ...(mayInvite
      ? [
          {
            head: texts.actions,
            className: 'w-60 text-right max-md:pt-2',
            cell: (invitation: ListedInvitation) => (
              <span className="inline-flex gap-2">
                <Button
                  size="small"
                  aria-label={
                    invitation.mailed
                      ? texts.invitations.sendAgainTo(invitation)
                      : texts.invitations.copyLinkFor(invitation)
                  }
                  isBusy={linking.isPending && linking.variables.invitation_id === invitation.invitation_id}
                  onClick={() => linking.mutate(invitation)}
                >
                  {invitation.mailed ? <RotateCw /> : <Link />}
                  {invitation.mailed ? texts.invitations.sendAgain : texts.invitations.copyLink}
                </Button>
                <Button
                  size="small"
                  look="dangerQuiet"
                  aria-label={texts.invitations.revokeOne(invitation)}
                  onClick={() => setRevoked(invitation)}
                >
                  {texts.invitations.revoke}
                </Button>
              </span>
            ),
          },
        ]
      : []),
  ];
  return (
    <TeamFrame actions={mayInvite && <InviteButton />}>
      {linking.error && <ErrorNote error={linking.error} className="mb-4" />}
      <Card isFlush>
        <Loaded query={invitations.query}>
          {({ rows }) => {
            if (rows.length === 0)
              return (
                <EmptyState icon={<MailOpen />} title={texts.invitations.none}>
                  {mayInvite ? texts.invitations.whomToInvite : texts.invitations.ask({ administrators })}
                </EmptyState>
              );
            return (
              <Table
                label={texts.parts.invitations}
                columns={columns}
                rows={rows}
                keyOf={({ invitation_id }) => invitation_id}
              />
            );
          }}
        </Loaded>
      </Card>
      <LoadMore list={invitations} className="mt-4">
        {texts.invitations.more}
      </LoadMore>
      <Dialog
        isOpen={shown !== undefined}
        onClose={() => setShown(undefined)}
        isClosedByButtonsOnly
        title={texts.invite.passOn}
        footer={
          <Button look="primary" onClick={() => setShown(undefined)}>
            {texts.done}
          </Button>
        }
      >
        {shown && <InvitationLink invitation={shown} />}
      </Dialog>
      <Confirm
        isOpen={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={texts.invitations.revokeTitle({ email: revoked?.email ?? '' })}
        action={texts.invitations.revokeAction}
        onConfirm={async () => {
          if (revoked) await revokeInvitation(team.id, revoked.invitation_id);
          await reread();
        }}
      >
        <p>{texts.invitations.revokeEffect}</p>
      </Confirm>
    </TeamFrame>
  );
}
