import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { conversationsQuery } from '#web/conversations/conversation-queries.ts';
import { ConversationRow } from '#web/conversations/conversation-row.tsx';
import { buttonStyle } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { useTeam } from '#web/shell/session.ts';

const shownMax = 5;

/** The latest conversations: who wrote. */
export function LatestCard(): ReactNode {
  const team = useTeam();
  const list = useInfiniteQuery(conversationsQuery(team.id, {}));
  const latest = list.data?.pages[0]?.conversations.slice(0, shownMax) ?? [];
  if (latest.length === 0) return null;
  return (
    <Card
      title="Latest conversations"
      isFlush
      actions={
        <Link
          to="/teams/$teamId/conversations"
          params={{ teamId: team.id }}
          className={buttonStyle({ size: 'small' })}
        >
          Show all
        </Link>
      }
    >
      <ul>
        {latest.map((conversation) => (
          <ConversationRow
            key={`${conversation.phone_number} ${conversation.contact}`}
            conversation={conversation}
            isOpen={false}
            isNumberShown={false}
          />
        ))}
      </ul>
    </Card>
  );
}
