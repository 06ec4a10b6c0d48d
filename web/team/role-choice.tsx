import { type ReactNode, useId } from 'react';
import type { Role } from '#contract/permissions.ts';
import { roleNames } from '#web/shell/role-names.ts';
import { roleTexts } from './role-texts.ts';

/** Roles to choose one of, each with what it includes. */
export function RoleChoice<Given extends Role>({
  roles,
  chosen,
  onChoose,
}: {
  readonly roles: readonly Given[];
  readonly chosen: Given;
  readonly onChoose: (role: Given) => void;
}): ReactNode {
  const id = useId();
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 font-medium">Role</legend>
      {roles.map((role) => (
        <div key={role} className="flex items-start gap-2.5">
          <input
            id={`${id}-${role}`}
            type="radio"
            name={id}
            className="mt-0.5 size-4 shrink-0 accent-accent max-sm:size-5"
            checked={role === chosen}
            aria-describedby={`${id}-${role}-text`}
            onChange={() => onChoose(role)}
          />
          <div className="min-w-0 leading-snug">
            <label htmlFor={`${id}-${role}`}>{roleNames[role]}</label>
            <p id={`${id}-${role}-text`} className="text-[0.8125rem] text-quiet">
              {roleTexts[role]}
            </p>
          </div>
        </div>
      ))}
    </fieldset>
  );
}
