import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useList } from '#web/api/lists.ts';
import { conversationsQuery } from '#web/conversations/conversation-queries.ts';
import { ConversationRow } from '#web/conversations/conversation-row.tsx';
import { buttonStyle } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

const shownMax = 5;

export function LatestCard(): ReactNode {
  const team = useTeam();
  const list = useList(conversationsQuery(team.id, {}));
  return (
    <Card
      title={texts.latest.title}
      isFlush
      actions={
        <Link
          to="/teams/$teamId/conversations"
          params={{ teamId: team.id }}
          className={buttonStyle({ size: 'small' })}
        >
          {texts.latest.showAll}
        </Link>
      }
    >
      <Loaded query={list.query}>
        {({ rows }) => {
          const latest = rows.slice(0, shownMax);
          if (latest.length === 0) {
            return <p className="px-5 py-4 text-quiet max-sm:px-4">{texts.latest.none}</p>;
          }
          return (
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
          );
        }}
      </Loaded>
    </Card>
  );
}
