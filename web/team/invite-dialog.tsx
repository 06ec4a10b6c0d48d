import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { assignableRoles, type GivenRole } from '#contract/permissions.ts';
import { queryClient } from '#web/api/query-client.ts';
import { Button } from '#web/kit/button.tsx';
import type { DialogState } from '#web/kit/dialog.tsx';
import { TextField } from '#web/kit/field.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { PlanLimitNote } from '#web/usage/plan-limit-note.tsx';
import { InvitationLink } from './invitation-link.tsx';
import { inviteMember } from './invitation-queries.ts';
import { RoleChoice } from './role-choice.tsx';
import { texts } from './texts.ts';

/** Invites an e-mail address. If the server sends no mail, it shows the link once. */
export function InviteDialog({ isOpen, onClose }: DialogState): ReactNode {
  const team = useTeam();
  const [role, setRole] = useState<GivenRole>('member');
  const invitation = useMutation({
    mutationFn: (email: string) => inviteMember(team.id, { email, role }),
    onSuccess: async ({ email, accept_url }) => {
      if (accept_url === undefined) {
        close();
        notify(texts.invite.sent, texts.invite.mailTo({ email }));
      }
      await queryClient.invalidateQueries({ queryKey: [team.id, 'invitation'] });
    },
  });
  const close = () => {
    onClose();
    invitation.reset();
    setRole('member');
  };
  const made = invitation.data?.accept_url === undefined ? undefined : invitation.data;
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={close}
      title={made === undefined ? texts.invite.title({ team: team.name }) : texts.invite.passOn}
      action={texts.invite.action}
      work={invitation}
      isHeld
      fields={['email']}
      onSubmit={({ email = '' }) => invitation.mutate(email)}
      answer={
        made === undefined
          ? undefined
          : {
              content: <InvitationLink invitation={made} />,
              footer: (
                <Button look="primary" onClick={close}>
                  {texts.done}
                </Button>
              ),
            }
      }
    >
      {!invitation.error && <PlanLimitNote resource="members" />}
      <TextField
        name="email"
        type="email"
        label={texts.email}
        placeholder={texts.invite.emailExample}
        required
        maxLength={254}
      />
      <RoleChoice roles={assignableRoles} chosen={role} onChoose={setRole} />
    </FormDialog>
  );
}
