import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { KeyChange } from '#contract/home.ts';
import type { Role } from '#contract/permissions.ts';
import { buttonStyle } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Time } from '#web/kit/text.tsx';
import { roleNames } from '#web/shell/role-names.ts';
import { useTeam } from '#web/shell/session.ts';

/** Lists the changes of the team by API keys of the last 7 days, for owners and admins. */
export function KeyChangesCard({ changes }: { readonly changes: readonly KeyChange[] }): ReactNode {
  const params = { teamId: useTeam().id };
  return (
    <Card
      isFlush
      title="Changes to the team by API keys"
      description="From the last 7 days. If nobody expects one, revoke the key, then undo the change."
      actions={
        <span className="flex gap-2 max-sm:mt-2">
          <Link to="/teams/$teamId/keys" params={params} className={buttonStyle({ size: 'small' })}>
            API keys
          </Link>
          <Link to="/teams/$teamId/team" params={params} className={buttonStyle({ size: 'small' })}>
            Team
          </Link>
        </span>
      }
    >
      <ul>
        {changes.map((change) => (
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

const roleName = (role: Role | null) => (role === null ? '' : roleNames[role].toLowerCase());
const withArticle = (name: string) => (/^[aeo]/.test(name) ? `an ${name}` : `a ${name}`);

function sentence({ key_name, name, email, ...change }: KeyChange): ReactNode {
  const subject = <b className="font-medium">{name || email || 'a former member'}</b>;
  return (
    <>
      The API key “{key_name}” {predicate(change, subject)}
    </>
  );
}

function predicate(
  { change, role, role_before: before }: Pick<KeyChange, 'change' | 'role' | 'role_before'>,
  subject: ReactNode,
): ReactNode {
  switch (change) {
    case 'renamed':
      return <>renamed the team to {subject}</>;
    case 'removed':
      return <>removed {subject}</>;
    case 'role_changed':
      return (
        <>
          made {subject} {withArticle(roleName(role))}
          {before === null ? '' : ` instead of ${withArticle(roleName(before))}`}
        </>
      );
    default:
      return (
        <>
          invited {subject}
          {change === 'invited_again' ? ' again' : ''} as {roleName(role)}
        </>
      );
  }
}
