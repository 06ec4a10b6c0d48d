import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { MessageSquarePlus, MessagesSquare } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Conversation } from '#contract/conversation.ts';
import { useList } from '#web/api/lists.ts';
import { IconButton } from '#web/kit/button.tsx';
import { Select } from '#web/kit/field.tsx';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { numberName } from '#web/numbers/number-name.ts';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { useTeam } from '#web/shell/session.ts';
import type { ConversationFilters } from './conversation-filters.ts';
import { type ConversationKey, conversationsQuery } from './conversation-queries.ts';
import { ConversationRow } from './conversation-row.tsx';
import { NewMessageDialog } from './new-message-dialog.tsx';
import { texts } from './texts.ts';

const views = [texts.list.all, texts.list.unread];

/** The list of conversations, latest activity first. */
export function ConversationList({ open }: { readonly open: ConversationKey | undefined }): ReactNode {
  const team = useTeam();
  const filters = useSearch({ from: '/teams/$teamId/conversations' });
  const navigate = useNavigate();
  const numbers = useQuery(numbersQuery(team.id)).data?.numbers ?? [];
  const list = useList(conversationsQuery(team.id, filters));
  const [isWriting, setIsWriting] = useState(false);
  const filterBy = (change: ConversationFilters) =>
    void navigate({ to: '.', search: { ...filters, ...change }, replace: true });
  const hasMoreNumbers = numbers.length > 1;
  return (
    <>
      <header className="flex flex-col gap-2.5 border-b border-line px-4 pt-4 pb-3">
        <div className="flex items-center justify-between">
          <h1 className="text-lg font-semibold tracking-[-0.01em]">{texts.title}</h1>
          {team.can('messages:send') && (
            <IconButton label={texts.list.newMessage} onClick={() => setIsWriting(true)}>
              <MessageSquarePlus />
            </IconButton>
          )}
        </div>
        <div className="flex gap-2">
          <Segments
            label={texts.list.toShow}
            options={views}
            chosen={filters.unread ? texts.list.unread : texts.list.all}
            onChoose={(view) => filterBy({ unread: view === texts.list.unread ? true : undefined })}
          />
          {hasMoreNumbers && (
            <Select
              label={texts.list.number}
              isLabelHidden
              className="min-w-0 flex-1"
              value={filters.number ?? ''}
              options={[
                ['', texts.list.allNumbers],
                ...numbers.map((one) => [one.phone_number, numberName(one)] as const),
              ]}
              onChange={(number) => filterBy({ number: number || undefined })}
            />
          )}
        </div>
      </header>
      <div className="relative min-h-0 flex-1 overflow-y-auto">
        <Loaded query={list.query}>
          {({ rows }) => {
            const conversations = withoutRepeats(rows);
            if (conversations.length === 0)
              return <Empty isFiltered={filters.unread === true || !!filters.number} />;
            return (
              <ul>
                {conversations.map((conversation) => (
                  <ConversationRow
                    key={rowKey(conversation)}
                    conversation={conversation}
                    isOpen={
                      open?.phoneNumber === conversation.phone_number && open.contact === conversation.contact
                    }
                    isNumberShown={hasMoreNumbers && filters.number === undefined}
                    isInList={open === undefined}
                  />
                ))}
              </ul>
            );
          }}
        </Loaded>
        <LoadMore list={list} size="small" className="p-3">
          {texts.list.showMore}
        </LoadMore>
      </div>
      <NewMessageDialog isOpen={isWriting} onClose={() => setIsWriting(false)} />
    </>
  );
}

/** Removes repeats: a conversation that has moved to the newest page may still be among the older rows. */
function withoutRepeats(conversations: readonly Conversation[]): readonly Conversation[] {
  const seen = new Set<string>();
  return conversations.filter((conversation) => {
    const key = rowKey(conversation);
    return !seen.has(key) && seen.add(key);
  });
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  return isFiltered ? (
    <EmptyState icon={<MessagesSquare />} title={texts.list.nothing}>
      {texts.list.nothingHow}
    </EmptyState>
  ) : (
    <EmptyState icon={<MessagesSquare />} title={texts.list.none}>
      {texts.list.noneHow}
    </EmptyState>
  );
}

/** A key of a conversation that is unique within a team. */
const rowKey = ({ phone_number, contact }: Pick<Conversation, 'phone_number' | 'contact'>) =>
  `${phone_number} ${contact}`;
