import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { unreadQuery } from '#web/conversations/conversation-queries.ts';
import { classNames } from '#web/kit/class-names.ts';
import { useTeam } from '#web/shell/session.ts';

export function UnreadBadge({ className }: { readonly className: string }): ReactNode {
  const team = useTeam();
  const count = useQuery(unreadQuery(team.id)).data?.unread_conversations ?? 0;
  if (count === 0) return null;
  return (
    <span
      className={classNames(
        'rounded-full bg-accent px-1.5 text-[0.6875rem] leading-4.5 font-semibold text-on-accent tabular-nums',
        className,
      )}
    >
      {count}
      <span className="sr-only"> unread</span>
    </span>
  );
}
