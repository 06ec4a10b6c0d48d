import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { assignableRoles, covers, keyGrants, type Role, roles } from '#contract/permissions.ts';
import { queryClient } from '#web/api/query-client.ts';
import { apiKeysQuery } from '#web/api-keys/api-key-queries.ts';
import { Note } from '#web/kit/error-note.tsx';
import { ActionDialog } from '#web/kit/task-dialog.tsx';
import { notify } from '#web/kit/toast.tsx';
import { roleNames } from '#web/shell/role-names.ts';
import { overviewQuery, useTeam } from '#web/shell/session.ts';
import { changeRole, type MemberDialogProps } from './member-queries.ts';
import { RoleChoice } from './role-choice.tsx';
import { texts } from './texts.ts';

/** Changes a member's role and lists the keys that the change revokes. */
export function ChangeRoleDialog({ member, onClose }: MemberDialogProps): ReactNode {
  const team = useTeam();
  const [role, setRole] = useState<Role>(member.role);
  const keys = useQuery(apiKeysQuery(team.id)).data?.keys ?? [];
  const ended = keys.filter(
    ({ created_by, permissions }) => created_by === member.id && !covers(keyGrants(role), permissions),
  );
  const isOwn = member.id === team.member_id;
  const change = useMutation({
    mutationFn: () => changeRole(team.id, member, role),
    onSuccess: async () => {
      onClose();
      notify(texts.changeRole.changed({ name: member.name, role: roleNames[role].toLowerCase() }));
      if (isOwn) await queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey });
    },
    // The data is read again even after a failure, because the first of the change's requests may have succeeded.
    onSettled: () => queryClient.invalidateQueries({ queryKey: [team.id] }),
  });
  return (
    <ActionDialog
      isOpen
      onClose={onClose}
      title={texts.changeRole.title(member)}
      description={member.email}
      action={texts.members.changeRole}
      work={change}
      isDisabled={role === member.role}
    >
      <RoleChoice
        roles={team.can('owners:manage') ? roles : assignableRoles}
        chosen={role}
        onChoose={setRole}
      />
      {isOwn && role !== member.role && <Note tone="warn">{texts.changeRole.isYou}</Note>}
      {ended.length > 0 && role !== member.role && (
        <Note tone="warn">
          {texts.changeRole.keysRevoked({ keys: ended.map(texts.changeRole.key).join(', ') })}
        </Note>
      )}
    </ActionDialog>
  );
}
