import { useMutation, useQuery } from '@tanstack/react-query';
import { RotateCw, Send } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import type { DeliveryDetail, Webhook } from '#contract/webhook.ts';
import { rereadEvery, rereadMs } from '#web/api/query-client.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { nowMs } from '#web/kit/clock.ts';
import { Drawer } from '#web/kit/dialog.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { exactTime } from '#web/kit/format.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { Code } from '#web/kit/text.tsx';
import { DueTime } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { AttemptList } from './attempt-list.tsx';
import { outcomeText, statusOf } from './delivery-text.ts';
import { RequestBody } from './request-body.tsx';
import { texts } from './texts.ts';
import { useTest } from './webhook-actions.tsx';
import { deliveryQuery, redeliver, refreshWebhooks } from './webhook-queries.ts';

/** An attempt that is due will end soon, so the page reads its result each second. */
const watchMs = 1_000;

const isDue = (delivery: DeliveryDetail | undefined) =>
  delivery?.status === 'pending' &&
  Date.parse(delivery.next_attempt_at ?? delivery.created_at) - nowMs() < 2 * watchMs;

interface DrawerProps {
  readonly webhook: Webhook;
  readonly deliveryId: string;
  readonly onClose: () => void;
  /** Opens the drawer of another delivery, that of a new test. */
  readonly onOpen: (deliveryId: string) => void;
}

/** Shows the attempts of a delivery, each with its request and response. */
export function DeliveryDrawer({ webhook, deliveryId, onClose, onOpen }: DrawerProps): ReactNode {
  const team = useTeam();
  const found = useQuery({
    ...deliveryQuery(team.id, webhook.id, deliveryId),
    refetchInterval: rereadEvery((data) => (isDue(data) ? watchMs : rereadMs)),
  });
  const { data } = found;
  const status = data?.status;
  const attempts = data?.attempt_count;
  // A change of the delivery also changes the webhook's log and health.
  useEffect(() => {
    if (status !== undefined && attempts !== undefined) void refreshWebhooks(team.id);
  }, [team.id, status, attempts]);
  const again = useMutation({
    mutationFn: () => redeliver(team.id, webhook.id, deliveryId),
    onSettled: () => refreshWebhooks(team.id),
  });
  const test = useTest(webhook.id, onOpen);
  const sendAnother = (
    <Button isBusy={test.isPending} onClick={() => test.mutate()}>
      <Send /> {texts.delivery.sendAnother}
    </Button>
  );
  const sendAgain = (delivery: DeliveryDetail) => (
    <Button
      look={delivery.status === 'succeeded' ? 'second' : 'primary'}
      isBusy={again.isPending}
      onClick={() => again.mutate()}
    >
      <RotateCw /> {texts.delivery.sendAgain}
    </Button>
  );
  return (
    <Drawer
      isOpen
      onClose={onClose}
      title={data ? <Title delivery={data} /> : texts.delivery.title}
      description={data && texts.delivery.happened({ at: exactTime(data.created_at) })}
      footer={
        data && data.status !== 'pending' && team.can('webhooks:manage')
          ? data.test
            ? sendAnother
            : sendAgain(data)
          : undefined
      }
    >
      <Loaded query={found}>
        {(delivery) => (
          <div className="flex flex-col gap-6">
            <div className="flex flex-col gap-2">
              <p aria-live="polite">
                <Outcome delivery={delivery} />
              </p>
              {again.error && <ErrorNote error={again.error} />}
            </div>
            <AttemptList delivery={delivery} webhook={webhook} />
            <RequestBody delivery={delivery} />
            <p className="text-quiet">{texts.delivery.idIs({ id: <Code>{delivery.id}</Code> })}</p>
          </div>
        )}
      </Loaded>
    </Drawer>
  );
}

function Title({ delivery }: { readonly delivery: DeliveryDetail }): ReactNode {
  const [tone, text] = statusOf(delivery);
  return (
    <span className="flex flex-wrap items-center gap-2">
      {delivery.event_type}
      <Badge tone={tone} hasDot>
        {text}
      </Badge>
      {delivery.test && <Badge tone="accent">{texts.test}</Badge>}
    </span>
  );
}

function Outcome({ delivery }: { readonly delivery: DeliveryDetail }): ReactNode {
  const { status, attempt_count: attempts, next_attempt_at: nextAt } = delivery;
  if (status !== 'pending') return outcomeText(delivery);
  if (isDue(delivery) || nextAt === null) {
    return attempts === 0 ? texts.delivery.isSent : texts.delivery.isSentAgain;
  }
  const at = <DueTime at={nextAt} />;
  return attempts === 0 ? texts.delivery.due({ at }) : texts.delivery.triedAgain({ at });
}
