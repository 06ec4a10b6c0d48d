import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { TimelineDelivery, TimelineEvent } from '#contract/timeline.ts';
import { Badge, type Tone } from '#web/kit/badge.tsx';
import { nowMs } from '#web/kit/clock.ts';
import { dueTime } from '#web/kit/relative-time.ts';
import { Code, Hint } from '#web/kit/text.tsx';
import { StepTime } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

export function TimelineEvents({ events }: { readonly events: readonly TimelineEvent[] }): ReactNode {
  return (
    <ul className="flex flex-col gap-3">
      {events.map(({ event, deliveries, more_deliveries }) => (
        <li key={event.id} className="rounded-lg border border-line">
          <div className="flex items-center justify-between gap-3 px-3.5 py-2.5">
            <Code>{event.type}</Code>
            <span className="text-xs text-quiet">
              <StepTime at={event.timestamp} />
            </span>
          </div>
          {deliveries.length === 0 ? (
            <p className="border-t border-line px-3.5 py-2.5 text-quiet">{texts.events.noWebhook}</p>
          ) : (
            deliveries.map((delivery) => <Delivery key={delivery.id} delivery={delivery} />)
          )}
          {more_deliveries && (
            <p className="border-t border-line px-3.5 py-2.5 text-quiet">{texts.events.more}</p>
          )}
        </li>
      ))}
    </ul>
  );
}

const tones: Readonly<Record<TimelineDelivery['status'], Tone>> = {
  pending: 'warn',
  succeeded: 'good',
  failed: 'bad',
  skipped: 'neutral',
};

function Delivery({ delivery }: { readonly delivery: TimelineDelivery }): ReactNode {
  const team = useTeam();
  const { status, url, webhook_id, id } = delivery;
  return (
    <div className="flex flex-col gap-1 border-t border-line px-3.5 py-2.5">
      <div className="flex items-start justify-between gap-3">
        {url === null ? (
          <span className="text-quiet">{texts.events.deletedWebhook}</span>
        ) : (
          <Link
            to="/teams/$teamId/webhooks/$webhookId"
            params={{ teamId: team.id, webhookId: webhook_id }}
            search={{ delivery: id }}
            className="min-w-0 break-all text-accent-ink underline underline-offset-2"
          >
            {url}
          </Link>
        )}
        <Badge tone={tones[status]} hasDot>
          {texts.events.statuses[status]}
        </Badge>
      </div>
      <Hint>{sentenceOf(delivery)}</Hint>
    </div>
  );
}

/** Describes the last attempt of a delivery and the time of the next one. */
function sentenceOf({ attempts, attempt_count, next_attempt_at, status }: TimelineDelivery): string {
  const last = attempts.at(-1);
  if (!last) return status === 'skipped' ? texts.events.skipped : texts.events.noAttempt;
  const { status_code, duration_ms, error_message } = last;
  const answer = status_code && texts.events.answered({ status: status_code, ms: duration_ms });
  const next = next_attempt_at && texts.events.next({ when: dueTime(next_attempt_at, nowMs()) });
  const parts = [texts.events.attempts({ count: attempt_count }), error_message ?? answer, next];
  return parts.filter(Boolean).join(' ');
}
