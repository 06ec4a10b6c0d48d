import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Event } from '#contract/event.ts';
import type { Delivery } from '#contract/webhook.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { Skeleton } from '#web/kit/skeleton.tsx';
import { useTeam } from '#web/shell/session.ts';
import { BodyBlock } from './body-block.tsx';
import { texts } from './texts.ts';
import { deliveryRequestQuery } from './webhook-queries.ts';

export function RequestBody({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const team = useTeam();
  const found = useQuery(deliveryRequestQuery(team.id, delivery.webhook_id, delivery.id));
  return (
    <section>
      <h3 className="mb-3 font-semibold">{texts.delivery.whatIsSent}</h3>
      <Loaded query={found} skeleton={<Skeleton lines={3} />}>
        {({ body }) =>
          body === null ? (
            <p className="text-quiet">{delivery.test ? texts.delivery.sample : texts.delivery.notKept}</p>
          ) : (
            <div className="flex flex-col items-start gap-2 [&>div]:w-full">
              <BodyBlock title={texts.delivery.json} text={body} what={texts.delivery.theRequest} />
              <MessageLink messageId={delivery.test ? undefined : messageOf(body)} />
            </div>
          )
        }
      </Loaded>
    </section>
  );
}

/** The id of the message that an event is about; undefined for an event of a contact without a message. */
function messageOf(body: string): string | undefined {
  const { data } = JSON.parse(body) as Event;
  const found = 'id' in data ? data.id : data.message_id;
  return found?.startsWith('msg_') ? found : undefined;
}

function MessageLink({ messageId }: { readonly messageId: string | undefined }): ReactNode {
  const team = useTeam();
  if (messageId === undefined || !team.can('messages:read')) return null;
  return (
    <Link
      to="/teams/$teamId/messages"
      params={{ teamId: team.id }}
      search={{ message: messageId }}
      className="text-accent-ink underline underline-offset-2 max-sm:py-2"
    >
      {texts.delivery.showMessage}
    </Link>
  );
}
