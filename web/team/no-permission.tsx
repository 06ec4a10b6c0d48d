import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '#web/kit/page.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { roleNames } from '#web/shell/role-names.ts';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

/** Shown for a page that the person's role does not include and that was opened by its address. */
export function NoPermission(): ReactNode {
  const team = useTeam();
  return (
    <EmptyState
      icon={<Lock />}
      title={texts.noPermission.title({ role: roleNames[team.role].toLowerCase() })}
    >
      {texts.noPermission.ask({ administrators: useAdministratorNames() })}
    </EmptyState>
  );
}
