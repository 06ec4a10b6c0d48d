import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { MailOpen, RotateCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Invitation, MadeInvitation } from '#contract/member.ts';
import { queryClient } from '#web/api/query-client.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { Dialog } from '#web/kit/dialog.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { type Column, Table } from '#web/kit/table.tsx';
import { DueTime } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { roleNames } from '#web/shell/role-names.ts';
import { useTeam } from '#web/shell/session.ts';
import { useAdministratorNames } from './administrators.ts';
import { InvitationLink } from './invitation-link.tsx';
import { invitationsQuery, resendInvitation, revokeInvitation } from './invitation-queries.ts';
import { InviteButton } from './invite-button.tsx';
import { TeamFrame } from './team-frame.tsx';

export function InvitationsPage(): ReactNode {
  const team = useTeam();
  const invitations = useInfiniteQuery(invitationsQuery(team.id));
  const administrators = useAdministratorNames();
  const mayInvite = team.can('team:write');
  const [revoked, setRevoked] = useState<Invitation>();
  const [shown, setShown] = useState<MadeInvitation>();
  const reread = () => queryClient.invalidateQueries({ queryKey: [team.id, 'invitation'] });
  const sending = useMutation({
    mutationFn: (id: string) => resendInvitation(team.id, id),
    onSuccess: (again) => {
      if (again.accept_url === undefined) notify('Sent again', `The link before no longer works.`);
      else setShown(again);
    },
    onSettled: reread,
  });
  const columns: readonly Column<Invitation>[] = [
    { head: 'E-mail address', cell: ({ email }) => <span className="font-medium break-all">{email}</span> },
    { head: 'Role', className: 'w-28', cell: ({ role }) => roleNames[role] },
    {
      head: 'Expires',
      className: 'w-32',
      cell: ({ expires_at }) => (
        <span className="text-quiet">
          <span className="md:hidden">Expires </span>
          <DueTime at={expires_at} />
        </span>
      ),
    },
    ...(mayInvite
      ? [
          {
            head: 'Actions',
            className: 'w-60 text-right max-md:pt-2',
            cell: (invitation: Invitation) => (
              <span className="inline-flex gap-2">
                <Button
                  size="small"
                  aria-label={`Send again to ${invitation.email}`}
                  isBusy={sending.isPending && sending.variables === invitation.invitation_id}
                  onClick={() => sending.mutate(invitation.invitation_id)}
                >
                  <RotateCw /> Send again
                </Button>
                <Button
                  size="small"
                  look="dangerQuiet"
                  aria-label={`Revoke the invitation of ${invitation.email}`}
                  onClick={() => setRevoked(invitation)}
                >
                  Revoke
                </Button>
              </span>
            ),
          },
        ]
      : []),
  ];
  return (
    <TeamFrame actions={mayInvite && <InviteButton />}>
      {sending.error && <ErrorNote error={sending.error} className="mb-4" />}
      <Card isFlush>
        <Loaded query={invitations}>
          {({ pages }) => {
            const rows = pages.flatMap((page) => page.invitations);
            if (rows.length === 0)
              return (
                <EmptyState icon={<MailOpen />} title="No open invitations">
                  {mayInvite
                    ? 'Invite the people who answer messages, and those who connect programs.'
                    : `To invite a person, ask ${administrators}.`}
                </EmptyState>
              );
            return (
              <Table
                label="Invitations"
                columns={columns}
                rows={rows}
                keyOf={({ invitation_id }) => invitation_id}
              />
            );
          }}
        </Loaded>
      </Card>
      <LoadMore list={invitations} className="mt-4">
        Show more
      </LoadMore>
      <Dialog
        isOpen={shown !== undefined}
        onClose={() => setShown(undefined)}
        isClosedByButtonsOnly
        title="Pass this link on"
        footer={
          <Button look="primary" onClick={() => setShown(undefined)}>
            Done
          </Button>
        }
      >
        <InvitationLink link={shown?.accept_url ?? ''} email={shown?.email ?? ''} />
      </Dialog>
      <Confirm
        isOpen={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={`Revoke the invitation of ${revoked?.email}?`}
        action="Revoke invitation"
        onConfirm={async () => {
          if (revoked) await revokeInvitation(team.id, revoked.invitation_id);
          await reread();
        }}
      >
        <p>Its link stops working at once. You can invite the address again.</p>
      </Confirm>
    </TeamFrame>
  );
}
