import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ApiKey } from '#contract/api-key.ts';
import { basePath } from '#web/api/base-path.ts';
import { queryClient } from '#web/api/query-client.ts';
import { apiKeysQuery } from '#web/api-keys/api-key-queries.ts';
import { permissionsText } from '#web/api-keys/permission-texts.ts';
import { Checkbox } from '#web/kit/checkbox.tsx';
import { ActionDialog } from '#web/kit/task-dialog.tsx';
import { Hint } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { endMembership, type MemberDialogProps } from './member-queries.ts';
import { texts } from './texts.ts';

/** Removes a member, or lets the person leave, and asks which of the member's keys to revoke. */
export function EndMembershipDialog({ member, onClose }: MemberDialogProps): ReactNode {
  const team = useTeam();
  const isOwn = member.id === team.member_id;
  const keys = useQuery({ ...apiKeysQuery(team.id), enabled: team.can('keys:manage') });
  const theirs = keys.data?.keys.filter(({ created_by }) => created_by === member.id) ?? [];
  const [revoked, setRevoked] = useState<ReadonlySet<string>>(new Set());
  const ending = useMutation({
    mutationFn: () =>
      endMembership(team.id, {
        memberId: member.id,
        isOwn,
        keyIds: theirs.map(({ id }) => id),
        revokedKeyIds: theirs.map(({ id }) => id).filter((id) => revoked.has(id)),
      }),
    onSuccess: () => {
      if (isOwn) return location.assign(`${basePath}/`);
      onClose();
      notify(texts.end.removed(member));
    },
    onSettled: () => !isOwn && queryClient.invalidateQueries({ queryKey: [team.id] }),
  });
  const toggle = (id: string, isOn: boolean) => {
    const next = new Set(revoked);
    if (isOn) next.add(id);
    else next.delete(id);
    setRevoked(next);
  };
  return (
    <ActionDialog
      isOpen
      onClose={onClose}
      title={isOwn ? texts.end.leaveTitle({ team: team.name }) : texts.end.removeTitle(member)}
      action={isOwn ? texts.members.leave : texts.end.removeAction}
      look="danger"
      work={ending}
      isBusy={ending.isPending || (keys.isEnabled && keys.isPending)}
    >
      <p className="text-quiet">{isOwn ? texts.end.leaveEffect : texts.end.removeEffect}</p>
      {theirs.length > 0 && <KeysToRevoke keys={theirs} isOwn={isOwn} revoked={revoked} onToggle={toggle} />}
    </ActionDialog>
  );
}

function KeysToRevoke({
  keys,
  isOwn,
  revoked,
  onToggle,
}: {
  readonly keys: readonly ApiKey[];
  readonly isOwn: boolean;
  readonly revoked: ReadonlySet<string>;
  readonly onToggle: (id: string, isOn: boolean) => void;
}) {
  return (
    <fieldset className="flex flex-col gap-2.5">
      <legend className="mb-2 font-medium">{isOwn ? texts.end.yourKeys : texts.end.theirKeys}</legend>
      {keys.map(({ id, name, permissions }) => (
        <Checkbox
          key={id}
          label={name}
          hint={permissionsText(permissions)}
          isOn={revoked.has(id)}
          onChange={(isOn) => onToggle(id, isOn)}
        />
      ))}
      <Hint>{isOwn ? texts.end.yourCopies : texts.end.theirCopies}</Hint>
    </fieldset>
  );
}
