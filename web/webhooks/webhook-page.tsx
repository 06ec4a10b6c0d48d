import { useQuery } from '@tanstack/react-query';
import { linkOptions, useParams } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Webhook } from '#contract/webhook.ts';
import { Button } from '#web/kit/button.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { Page } from '#web/kit/page.tsx';
import { DueTime } from '#web/kit/time.tsx';
import { useLeave } from '#web/shell/leave.ts';
import { useTeam } from '#web/shell/session.ts';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { HealthBadge } from './health.tsx';
import { HealthNote } from './health-note.tsx';
import { useLogAddress } from './log-address.ts';
import { texts } from './texts.ts';
import { type Task, WebhookActions, type WebhookPart } from './webhook-actions.tsx';
import { WebhookFacts } from './webhook-facts.tsx';
import { webhookQuery } from './webhook-queries.ts';
import { WebhookTask } from './webhook-task.tsx';

/** The page of a webhook: health, settings, and the log of its deliveries. */
export function WebhookPage(): ReactNode {
  const team = useTeam();
  const { webhookId } = useParams({ from: '/teams/$teamId/webhooks/$webhookId' });
  const webhook = useQuery(webhookQuery(team.id, webhookId));
  return <Loaded query={webhook}>{(found) => <LoadedWebhook key={found.id} webhook={found} />}</Loaded>;
}

function LoadedWebhook({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const team = useTeam();
  const [task, setTask] = useState<Task>();
  const [{ delivery }, changeAddress] = useLogAddress();
  const openDelivery = (id: string) => changeAddress({ delivery: id });
  const leaveDelivery = useLeave(() => changeAddress({ delivery: undefined }));
  return (
    <Page
      title={webhook.url}
      back={{
        text: texts.title,
        link: linkOptions({ to: '/teams/$teamId/webhooks', params: { teamId: team.id } }),
      }}
      description={<HealthBadge webhook={webhook} />}
      actions={<WebhookActions webhook={webhook} onTask={setTask} onOpen={openDelivery} />}
    >
      <div className="flex flex-col gap-5">
        <HealthNote webhook={webhook} onTask={setTask} onOpen={openDelivery} />
        <RotationNote webhook={webhook} onTask={setTask} />
        <WebhookFacts webhook={webhook} />
        <DeliveryLog webhook={webhook} onTask={setTask} onOpen={openDelivery} />
      </div>
      <WebhookTask task={task} webhook={webhook} onDone={() => setTask(undefined)} />
      {delivery !== undefined && (
        <DeliveryDrawer
          webhook={webhook}
          deliveryId={delivery}
          onClose={leaveDelivery}
          onOpen={openDelivery}
        />
      )}
    </Page>
  );
}

/** Says during a secret rotation that both secrets sign, and until when. */
function RotationNote({ webhook, onTask }: Omit<WebhookPart, 'onOpen'>): ReactNode {
  const team = useTeam();
  const { next_secret_takes_over_at: at } = webhook;
  if (at === null) return null;
  return (
    <Note tone="accent" icon={<RefreshCw />}>
      <div className="flex flex-col items-start gap-1.5">
        <p className="font-semibold">{texts.rotation.title}</p>
        <p>{texts.rotation.about({ at: <DueTime at={at} /> })}</p>
        {team.can('webhooks:manage') && (
          <Button size="small" className="mt-1" onClick={() => onTask('finish')}>
            {texts.rotation.finish}
          </Button>
        )}
      </div>
    </Note>
  );
}
