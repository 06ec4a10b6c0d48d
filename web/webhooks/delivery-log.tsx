import { History, Inbox } from 'lucide-react';
import type { ReactNode } from 'react';
import type { EventType } from '#contract/event.ts';
import type { DeliveryStatus, ListedDelivery } from '#contract/webhook.ts';
import { useList } from '#web/api/lists.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { Select } from '#web/kit/select.tsx';
import { type Column, rowLink, Table } from '#web/kit/table.tsx';
import { DueTime, Time } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { lastAnswerText, statusOf } from './delivery-text.ts';
import { deliveryStatuses } from './delivery-tones.ts';
import { eventTypes } from './event-types.ts';
import { useLogAddress } from './log-address.ts';
import { texts } from './texts.ts';
import type { WebhookPart } from './webhook-actions.tsx';
import { deliveriesQuery } from './webhook-queries.ts';

/** The deliveries of a webhook, newest first, with filters in the page's address. */
export function DeliveryLog({ webhook, onTask, onOpen }: WebhookPart): ReactNode {
  const team = useTeam();
  const [{ status, event }, changeAddress] = useLogAddress();
  const log = useList(deliveriesQuery(team.id, webhook.id, { status, event }));
  const deliveries = log.rows;
  const isFiltered = status !== undefined || event !== undefined;
  return (
    <Card
      isFlush
      title={texts.log.title}
      actions={
        <div className="flex flex-wrap gap-2 max-sm:w-full">
          <Select<DeliveryStatus | ''>
            label={texts.log.status}
            isLabelHidden
            className="max-sm:flex-1"
            value={status ?? ''}
            options={[
              ['', texts.log.anyStatus],
              ...deliveryStatuses.map((one) => [one, texts.statuses[one]] as const),
            ]}
            onChange={(value) => changeAddress({ status: value || undefined })}
          />
          <Select<EventType | ''>
            label={texts.log.event}
            isLabelHidden
            className="max-sm:flex-1"
            value={event ?? ''}
            options={[['', texts.log.allEvents], ...eventTypes.map((type) => [type, type] as const)]}
            onChange={(value) => changeAddress({ event: value || undefined })}
          />
          {webhook.active && team.can('webhooks:manage') && (
            <Button onClick={() => onTask('replay')} className="max-sm:w-full">
              <History /> {texts.log.replayMissed}
            </Button>
          )}
        </div>
      }
    >
      <Loaded query={log.query}>
        {() =>
          deliveries.length === 0 && !log.hasMore ? (
            <Empty
              isFiltered={isFiltered}
              onClear={() => changeAddress({ status: undefined, event: undefined })}
            />
          ) : (
            <>
              <Table
                label={texts.log.title}
                columns={columnsFor(onOpen)}
                rows={deliveries}
                keyOf={({ id }) => id}
              />
              <LoadMore list={log} className="border-t border-line p-3">
                {texts.log.more}
              </LoadMore>
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function Empty({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) {
  if (isFiltered) {
    return (
      <EmptyState
        icon={<Inbox />}
        title={texts.log.noneFits}
        action={<Button onClick={onClear}>{texts.log.showAll}</Button>}
      >
        {texts.log.chooseOther}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<Inbox />} title={texts.log.none}>
      {texts.log.whenTheyCome}
    </EmptyState>
  );
}

function columnsFor(onOpen: (deliveryId: string) => void): readonly Column<ListedDelivery>[] {
  return [
    {
      head: texts.log.event,
      cell: ({ id, event_id, event_type, test }) => (
        <span className="flex flex-wrap items-center gap-2">
          <button type="button" className={rowLink} onClick={() => onOpen(id)}>
            {event_type}
          </button>
          <span title={event_id} className="font-mono text-xs text-quiet">
            …{event_id.slice(-6)}
          </span>
          {test && <Badge tone="accent">{texts.test}</Badge>}
        </span>
      ),
    },
    {
      head: texts.log.status,
      className: 'md:w-40',
      cell: (delivery) => {
        const [tone, text] = statusOf(delivery);
        return (
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-quiet">
            <Badge tone={tone} hasDot>
              {text}
            </Badge>
            <span className="md:hidden">
              <Attempts delivery={delivery} /> · <Time at={delivery.created_at} />
            </span>
          </span>
        );
      },
    },
    {
      head: texts.log.attempts,
      className: 'md:w-56',
      isDesktopOnly: true,
      cell: (delivery) => (
        <span className="text-quiet">
          <Attempts delivery={delivery} />
        </span>
      ),
    },
    {
      head: texts.log.happened,
      className: 'md:w-36 md:text-right',
      isDesktopOnly: true,
      cell: ({ created_at }) => (
        <span className="text-quiet">
          <Time at={created_at} />
        </span>
      ),
    },
  ];
}

/** Summarizes attempts: `2 attempts, last 503, next in 1 min`. */
function Attempts({ delivery }: { readonly delivery: ListedDelivery }): ReactNode {
  const { status, attempt_count: count, next_attempt_at: nextAt, last_attempt: last } = delivery;
  if (count === 0) return texts.log.notSent;
  const attempts = last
    ? texts.attemptsSoFar({ count, answer: lastAnswerText(last) })
    : texts.attempts({ count });
  return status === 'pending' && nextAt !== null
    ? texts.andNext({ attempts, at: <DueTime at={nextAt} /> })
    : attempts;
}
