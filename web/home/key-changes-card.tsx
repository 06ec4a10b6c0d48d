import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { KeyChange } from '#contract/home.ts';
import type { Role } from '#contract/permissions.ts';
import { buttonStyle } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Time } from '#web/kit/time.tsx';
import { roleWords } from '#web/shell/role-names.ts';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

const { keyChanges: changes } = texts;

/** Lists the changes of the team by API keys of the last 7 days, for owners and admins. */
export function KeyChangesCard({ changes: shown }: { readonly changes: readonly KeyChange[] }): ReactNode {
  const params = { teamId: useTeam().id };
  return (
    <Card
      isFlush
      title={changes.title}
      description={changes.about}
      actions={
        <span className="flex gap-2 max-sm:mt-2">
          <Link to="/teams/$teamId/keys" params={params} className={buttonStyle({ size: 'small' })}>
            {changes.keys}
          </Link>
          <Link to="/teams/$teamId/team" params={params} className={buttonStyle({ size: 'small' })}>
            {changes.team}
          </Link>
        </span>
      }
    >
      <ul>
        {shown.map((change) => (
          <li
            key={change.id}
            className="flex flex-wrap items-baseline justify-between gap-x-4 border-t border-line px-5 py-2.5 first:border-t-0 max-sm:px-4"
          >
            <span className="min-w-0 break-words">{sentence(change)}</span>
            <span className="text-[0.8125rem] text-quiet">
              <Time at={change.at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function sentence({ change, key_name: key, role, role_before, ...person }: KeyChange): ReactNode {
  const name = <b className="font-medium">{person.name || person.email || changes.formerMember}</b>;
  switch (change) {
    case 'renamed':
    case 'removed':
      return changes[change]({ key, name });
    case 'role_changed': {
      const shown = { key, name, role: withArticle(role) };
      return role_before === null
        ? changes.role_changed(shown)
        : changes.role_replaced({ ...shown, before: withArticle(role_before) });
    }
    default:
      return changes[change]({ key, name, role: role === null ? '' : roleWords[role] });
  }
}

const withArticle = (role: Role | null) => (role === null ? '' : changes.roles[role]);
