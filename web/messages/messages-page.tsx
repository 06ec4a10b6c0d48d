import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowDownLeft, ArrowUpRight, MessageSquareText, Paperclip } from 'lucide-react';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import type { ListedMessage, Message } from '#contract/message.ts';
import { useList } from '#web/api/lists.ts';
import { homeQuery } from '#web/home/home-queries.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState, Page } from '#web/kit/page.tsx';
import { type Column, rowLink, Table } from '#web/kit/table.tsx';
import { Handle } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { useNumberNames } from '#web/numbers/number-name.ts';
import { openedOver, useLeave } from '#web/shell/leave.ts';
import { useTeam } from '#web/shell/session.ts';
import { MessageDrawer } from './message-drawer.tsx';
import { MessageFilterBar } from './message-filter-bar.tsx';
import { messagesQuery } from './message-queries.ts';
import { statusTones } from './message-statuses.ts';
import type { MessagesSearch } from './messages-search.ts';
import { failureTexts, heldText, statusTexts } from './status-texts.ts';
import { texts } from './texts.ts';

const { columns: heads } = texts;

/** The message log with its filters. Details of a message open in a drawer. */
export function MessagesPage(): ReactNode {
  const team = useTeam();
  const filters = useSearch({ from: '/teams/$teamId/messages' });
  const navigate = useNavigate();
  const log = useList(messagesQuery(team.id, filters));
  // Messages in a list have no field for the reason of their wait, so it is derived from the state of the number.
  const numbers = useQuery(homeQuery(team.id)).data?.numbers ?? [];
  const nameOf = useNumberNames();
  const change = (changed: MessagesSearch) =>
    void navigate({ to: '.', search: { ...filters, ...changed }, replace: true });
  const leave = useLeave(() => change({ message: undefined }));
  const { message: open, status, direction, contact } = filters;
  const isFiltered = [status, direction, contact].some((value) => value !== undefined);
  return (
    <Page title={texts.title} description={texts.about}>
      <Card isFlush>
        <MessageFilterBar filters={filters} onChange={change} />
        <Loaded query={log.query}>
          {({ rows }) => {
            if (rows.length === 0 && !log.hasMore) {
              return (
                <Empty
                  isFiltered={isFiltered}
                  onReset={() => void navigate({ to: '.', search: {}, replace: true })}
                />
              );
            }
            return (
              <Table
                label={texts.title}
                columns={columns(filters, numbers, nameOf)}
                rows={rows}
                keyOf={({ id }) => id}
              />
            );
          }}
        </Loaded>
        <LoadMore list={log} size="small" className="border-t border-line p-3">
          {texts.showOlder}
        </LoadMore>
      </Card>
      <MessageDrawer id={open} onClose={leave} />
    </Page>
  );
}

const sidesOf = ({ direction, from, to }: Message) =>
  direction === 'inbound' ? { contact: from, own: to } : { contact: to, own: from };

/** Whether the message's contact was erased. Other messages without a handle have content. */
const isErased = (message: Message) =>
  sidesOf(message).contact === '' && message.content === '' && message.media_url === null;

function columns(
  filters: MessagesSearch,
  numbers: readonly HomeNumber[],
  nameOf: (phoneNumber: string) => string,
): readonly Column<ListedMessage>[] {
  return [
    {
      head: heads.contact,
      className: 'w-60',
      cell: (message) => (
        <span className="flex items-center gap-2.5">
          <DirectionMark direction={message.direction} />
          <Link
            to="."
            search={{ ...filters, message: message.id }}
            state={openedOver}
            className={classNames(rowLink, 'truncate')}
          >
            {isErased(message)
              ? texts.log.erasedContact
              : (message.name ?? <Handle value={sidesOf(message).contact} />)}
          </Link>
        </span>
      ),
    },
    {
      head: heads.message,
      cell: (message) => (
        <>
          <span className="line-clamp-1 text-quiet max-md:line-clamp-2">
            {message.media_url !== null && (
              <Paperclip aria-label={texts.log.withFile} className="mr-1 inline size-3.5 align-[-2px]" />
            )}
            {isErased(message) ? texts.log.erasedText : message.content || texts.attachment}
          </span>
          <Reason message={message} numbers={numbers} />
        </>
      ),
    },
    {
      head: heads.number,
      className: 'w-40',
      isDesktopOnly: true,
      cell: (message) => (
        <>
          <bdi className="line-clamp-2 text-quiet tabular-nums">{nameOf(sidesOf(message).own)}</bdi>
          {message.sender && <bdi className="line-clamp-1 text-xs text-quiet">{message.sender.name}</bdi>}
        </>
      ),
    },
    {
      head: heads.status,
      className: 'w-32 max-md:absolute max-md:right-4 max-md:bottom-3',
      cell: ({ status }) => (
        <Badge tone={statusTones[status]} hasDot>
          {statusTexts[status]}
        </Badge>
      ),
    },
    {
      head: heads.time,
      className: 'w-32 text-right text-quiet max-md:text-xs',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
  ];
}

const isWaiting = ({ status }: Pick<Message, 'status'>) => status === 'queued';

/** The reason why a message failed or waits, in a few words. */
function Reason({
  message,
  numbers,
}: {
  readonly message: ListedMessage;
  readonly numbers: readonly HomeNumber[];
}): ReactNode {
  const failure = message.error_code && failureTexts[message.error_code];
  if (failure) {
    return <p className="mt-0.5 text-xs text-bad-ink max-md:pr-24">{failure}</p>;
  }
  const number = isWaiting(message) && numbers.find(({ phone_number }) => phone_number === message.from);
  const held = number ? heldText(number) : undefined;
  return held === undefined ? null : <p className="mt-0.5 text-xs text-warn-ink max-md:pr-24">{held}</p>;
}

function DirectionMark({ direction }: Pick<Message, 'direction'>): ReactNode {
  const isInbound = direction === 'inbound';
  const Icon = isInbound ? ArrowDownLeft : ArrowUpRight;
  return (
    <span
      className={classNames(
        'grid size-7 shrink-0 place-items-center rounded-full',
        isInbound ? 'bg-sunken text-quiet' : 'bg-accent-tint text-accent-ink',
      )}
    >
      <Icon aria-label={isInbound ? texts.log.receivedFrom : texts.log.sentTo} className="size-4" />
    </span>
  );
}

function Empty({
  isFiltered,
  onReset,
}: {
  readonly isFiltered: boolean;
  readonly onReset: () => void;
}): ReactNode {
  if (isFiltered) {
    return (
      <EmptyState
        icon={<MessageSquareText />}
        title={texts.log.noneFits}
        action={<Button onClick={onReset}>{texts.log.clearFilters}</Button>}
      >
        {texts.log.noneFitsHow}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<MessageSquareText />} title={texts.log.none}>
      {texts.log.noneHow}
    </EmptyState>
  );
}
