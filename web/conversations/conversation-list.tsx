import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CircleCheck, MessageSquarePlus, MessagesSquare } from 'lucide-react';
import { lazy, type ReactNode, Suspense, type UIEvent, useLayoutEffect, useRef, useState } from 'react';
import type { Conversation } from '#contract/conversation.ts';
import { useList } from '#web/api/lists.ts';
import { Button, IconButton } from '#web/kit/button.tsx';
import { lazyDialog } from '#web/kit/lazy-dialog.tsx';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { Segments } from '#web/kit/segments.tsx';
import { Select } from '#web/kit/select.tsx';
import { NotificationsOffer } from '#web/notifications/offer.tsx';
import { numberName } from '#web/numbers/number-name.ts';
import { numbersQuery } from '#web/numbers/number-queries.ts';
import { useTeam } from '#web/shell/session.ts';
import { type ConversationFilters, type ConversationView, views } from './conversation-filters.ts';
import {
  type ConversationKey,
  conversationsQuery,
  threadQuery,
  waitingQuery,
} from './conversation-queries.ts';
import { ConversationRow } from './conversation-row.tsx';
import { ConversationSearch, isSearched } from './conversation-search.tsx';
import { type Place, rowKey, rowOfThread, withOpenRow, withoutRepeats } from './open-row.ts';
import { texts } from './texts.ts';
import { countText } from './unread.ts';

const SearchResults = lazy(async () => ({
  default: (await import('./search-results.tsx')).SearchResults,
}));
const NewMessageDialog = lazyDialog(async () => (await import('./new-message-dialog.tsx')).NewMessageDialog);

/** The list of conversations, latest activity first: those that wait for the team, all, or the reader's unread ones. */
export function ConversationList({ open }: { readonly open: ConversationKey | undefined }): ReactNode {
  const team = useTeam();
  const search = useSearch({ from: '/teams/$teamId/conversations' });
  const filters = {
    ...search,
    view: search.view ?? (team.can('messages:send') ? 'waiting' : 'all'),
  } as const;
  const { q = '' } = search;
  const navigate = useNavigate();
  const numbers = useQuery(numbersQuery(team.id)).data?.numbers ?? [];
  const list = useList(conversationsQuery(team.id, filters));
  const [isWriting, setIsWriting] = useState(false);
  const filterBy = (change: ConversationFilters) =>
    void navigate({ to: '.', search: { ...search, ...change }, replace: true });
  const hasMoreNumbers = numbers.length > 1;
  const [openRow, place] = useOpenRow(open, list.rows);
  const viewNames = useViewNames(filters.number);
  const frame = useOpenRowInView(place?.key, list.rows);
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
            names={viewNames}
            chosen={filters.view}
            onChoose={(view) => filterBy({ view })}
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
        <ConversationSearch value={q} onSearch={(text) => filterBy({ q: text || undefined })} />
      </header>
      {team.can('messages:send') && <NotificationsOffer />}
      {isSearched(q) ? (
        <Suspense fallback={null}>
          <SearchResults q={q} open={open} isNumberShown={hasMoreNumbers} />
        </Suspense>
      ) : (
        <div {...frame} className="relative min-h-0 flex-1 overflow-y-auto">
          <Loaded query={list.query}>
            {({ rows }) => {
              const listed = withoutRepeats(rows);
              const shown = openRow && place ? withOpenRow(listed, openRow, place) : listed;
              if (shown.length === 0)
                return <Empty filters={filters} onShowAll={() => filterBy({ view: 'all' })} />;
              return (
                <ul>
                  {shown.map((conversation) => (
                    <ConversationRow
                      key={rowKey(conversation)}
                      conversation={conversation}
                      isOpen={conversation === openRow}
                      isNumberShown={hasMoreNumbers && filters.number === undefined}
                      isInList={open === undefined}
                      isDone={conversation === openRow && place?.waited === true && !conversation.waiting}
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
      )}
      <NewMessageDialog isOpen={isWriting} onClose={() => setIsWriting(false)} />
    </>
  );
}

/** The names of the views; that of what waits has its count. */
function useViewNames(number: string | undefined): Readonly<Record<ConversationView, string>> {
  const team = useTeam();
  const { data } = useQuery(waitingQuery(team.id));
  const count = number
    ? data?.numbers.find(({ phone_number }) => phone_number === number)?.waiting_conversations
    : data?.waiting_conversations;
  const { waiting, waitingCount, all, unread } = texts.list;
  return { waiting: count ? waitingCount({ count: countText(count) }) : waiting, all, unread };
}

/** The row of the open conversation, and the place that it keeps while it is open. */
function useOpenRow(
  open: ConversationKey | undefined,
  rows: readonly Conversation[],
): readonly [Conversation | undefined, Place | undefined] {
  const team = useTeam();
  const [place, setPlace] = useState<Place>();
  const key = open ?? { phoneNumber: '', contact: '' };
  // The thread itself reads the conversation.
  const thread = useQuery({ ...threadQuery(team.id, key), enabled: false }).data;
  const row =
    rows.find((one) => one.phone_number === key.phoneNumber && one.contact === key.contact) ??
    (thread && thread.rows.length > 0 ? rowOfThread(thread) : undefined);
  if (row && place?.key !== rowKey(row))
    setPlace({ key: rowKey(row), at: row.last_activity_at, waited: row.waiting });
  else if (!row && place) setPlace(undefined);
  else if (row?.waiting && place?.waited === false) setPlace({ ...place, waited: true });
  return [row, place];
}

/** Properties of the list's frame that keep the open conversation in view, unless the person scrolls it away. */
function useOpenRowInView(key: string | undefined, rows: readonly Conversation[]) {
  const ref = useRef<HTMLDivElement>(null);
  const isInView = useRef(true);
  const openRow = () => ref.current?.querySelector('[aria-current=page]');
  // biome-ignore lint/correctness/useExhaustiveDependencies: another open conversation comes into view
  useLayoutEffect(() => {
    isInView.current = true;
  }, [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows and the open conversation move it
  useLayoutEffect(() => {
    if (isInView.current) openRow()?.scrollIntoView({ block: 'nearest' });
  }, [rows, key]);
  return {
    ref,
    onScroll: ({ currentTarget }: UIEvent) => {
      const row = openRow()?.getBoundingClientRect();
      const { top, bottom } = currentTarget.getBoundingClientRect();
      isInView.current = !row || (row.bottom > top && row.top < bottom);
    },
  };
}

function Empty({
  filters: { view, number },
  onShowAll,
}: {
  readonly filters: ConversationFilters;
  readonly onShowAll: () => void;
}): ReactNode {
  const { nothingWaits, nothingWaitsHow, nothing, nothingHow, none, noneHow, showAll } = texts.list;
  if (view === 'waiting')
    return (
      <EmptyState
        icon={<CircleCheck />}
        title={nothingWaits}
        action={<Button onClick={onShowAll}>{showAll}</Button>}
      >
        {nothingWaitsHow}
      </EmptyState>
    );
  const isFiltered = view === 'unread' || number !== undefined;
  return (
    <EmptyState icon={<MessagesSquare />} title={isFiltered ? nothing : none}>
      {isFiltered ? nothingHow : noneHow}
    </EmptyState>
  );
}
