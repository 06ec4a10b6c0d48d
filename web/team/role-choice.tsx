import type { ReactNode } from 'react';
import type { Role } from '#contract/permissions.ts';
import { Choices } from '#web/kit/choices.tsx';
import { roleNames } from '#web/shell/role-names.ts';

/** Describes the rights of each role (specification section 5.3). */
const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Everything, other owners included.',
  admin: 'Manages numbers, webhooks, all keys and the people of the team, and reads the audit log.',
  member: 'Sends and reads messages, manages webhooks, and makes keys of their own.',
  viewer: 'Reads messages, and sees numbers and webhooks. Changes nothing.',
};

/** Radio buttons for roles, each with the rights of the role. */
export function RoleChoice<Given extends Role>({
  roles,
  chosen,
  onChoose,
}: {
  readonly roles: readonly Given[];
  readonly chosen: Given;
  readonly onChoose: (role: Given) => void;
}): ReactNode {
  return (
    <Choices
      legend="Role"
      isLegendShown
      options={roles.map((role) => ({ value: role, label: roleNames[role], hint: roleTexts[role] }))}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
