import { keepPreviousData } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { SearchX, Send } from 'lucide-react';
import type { KeyboardEvent, ReactNode } from 'react';
import type { SearchResult } from '#contract/search.ts';
import { listQuery, useList } from '#web/api/lists.ts';
import { isOlderId } from '#web/api/loaded-list.ts';
import { readTeam } from '#web/api/team-requests.ts';
import { ContactAvatar } from '#web/kit/avatar.tsx';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { Handle } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { openedOver } from '#web/shell/leave.ts';
import { useTeam } from '#web/shell/session.ts';
import type { ConversationKey } from './conversation-queries.ts';
import { ConversationRow } from './conversation-row.tsx';
import { linksNear, searchKey } from './conversation-search.tsx';
import { excerptOf } from './excerpt.ts';
import { texts as conversationTexts } from './texts.ts';

const { search: texts } = conversationTexts;

const searchQuery = (teamId: string, q: string) => ({
  ...listQuery([...searchKey(teamId), q], {
    read: (cursor, signal) => readTeam<SearchResult>(teamId, '/search', { q, cursor }, signal),
    rowsOf: ({ messages }) => messages,
    isOlder: isOlderId,
  }),
  placeholderData: keepPreviousData,
});

/** The results of a search: conversations by name and last digits, and messages by their texts. */
export function SearchResults({
  q,
  open,
  isNumberShown,
}: {
  readonly q: string;
  readonly open: ConversationKey | undefined;
  readonly isNumberShown: boolean;
}): ReactNode {
  const list = useList(searchQuery(useTeam().id, q));
  const isInList = open === undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as Element;
    if (event.key !== 'Escape' && (event.key !== 'ArrowUp' || target !== linksNear(target)[0])) return;
    event.preventDefault();
    target.closest('section')?.querySelector<HTMLElement>('search input')?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links in it have the focus
    <div className="relative min-h-0 flex-1 overflow-y-auto" onKeyDown={onKeyDown}>
      <Loaded query={list.query}>
        {({ newest: { conversations }, rows }) => (
          <>
            <p role="status" className="sr-only">
              {texts.found({ conversations: conversations.length, messages: rows.length })}
            </p>
            {conversations.length > 0 && (
              <Group title={texts.conversations}>
                {conversations.map((conversation) => (
                  <ConversationRow
                    key={conversation.id}
                    conversation={conversation}
                    isOpen={
                      open?.contact === conversation.contact && open.phoneNumber === conversation.phone_number
                    }
                    isNumberShown={isNumberShown}
                    isInList={isInList}
                  />
                ))}
              </Group>
            )}
            {rows.length > 0 && (
              <Group title={texts.messages}>
                {rows.map((message) => (
                  <FoundMessage key={message.id} message={message} q={q} isInList={isInList} />
                ))}
              </Group>
            )}
            {conversations.length + rows.length === 0 && (
              <EmptyState icon={<SearchX />} title={list.hasMore ? texts.nothingYet : texts.nothing}>
                {list.hasMore ? texts.nothingYetHow : texts.nothingHow({ text: q })}
              </EmptyState>
            )}
          </>
        )}
      </Loaded>
      <LoadMore list={list} size="small" className="p-3">
        {texts.older}
      </LoadMore>
    </div>
  );
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <>
      <h2 className="border-b border-line bg-sunken px-4 py-1.5 text-xs font-medium text-quiet">{title}</h2>
      <ul className="border-b border-line">{children}</ul>
    </>
  );
}

/** A message by its contact, its time, and the text around the words that were found. It opens at its place. */
function FoundMessage({
  message: { id, direction, from, to, content, created_at, name },
  q,
  isInList,
}: {
  readonly message: SearchResult['messages'][number];
  readonly q: string;
  readonly isInList: boolean;
}): ReactNode {
  const isOurs = direction === 'outbound';
  const [phoneNumber, contact] = isOurs ? [from, to] : [to, from];
  return (
    <li className="border-b border-line last:border-0">
      <Link
        to="/teams/$teamId/conversations/$phoneNumber/$contact"
        params={{ teamId: useTeam().id, phoneNumber, contact }}
        search={true}
        hash={id}
        state={isInList ? openedOver : {}}
        className="flex gap-3 py-2.5 pr-3.5 pl-4 outline-offset-[-2px] hover:bg-sunken/70"
      >
        <ContactAvatar contact={contact} name={name} className="size-9" />
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline justify-between gap-2">
            <span className="truncate font-medium">
              {name === null ? <Handle value={contact} /> : <bdi>{name}</bdi>}
            </span>
            <span className="shrink-0 text-xs text-quiet">
              <Time at={created_at} />
            </span>
          </span>
          <span className="mt-0.5 line-clamp-2 text-[0.8125rem] leading-snug text-quiet">
            {isOurs && <Send aria-label={texts.sent} className="mr-1 inline size-3 align-[-1.5px]" />}
            <bdi className="[overflow-wrap:anywhere]">
              {excerptOf(content, q).map(({ text, isFound }, index) =>
                isFound ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move
                  <mark key={index} className="rounded-xs bg-warn-tint font-medium text-warn-ink">
                    {text}
                  </mark>
                ) : (
                  text
                ),
              )}
            </bdi>
          </span>
        </span>
      </Link>
    </li>
  );
}
