import type { ReactNode } from 'react';
import type { Role } from '#contract/permissions.ts';
import { Choices } from '#web/kit/choices.tsx';
import { roleNames } from '#web/shell/role-names.ts';
import { texts } from './texts.ts';

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
      legend={texts.role}
      isLegendShown
      options={roles.map((role) => ({ value: role, label: roleNames[role], hint: texts.roles[role] }))}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
