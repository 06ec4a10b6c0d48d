import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Delivery } from '#contract/webhook.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { Skeleton } from '#web/kit/skeleton.tsx';
import { useTeam } from '#web/shell/session.ts';
import { BodyBlock } from './body-block.tsx';
import { deliveryRequestQuery } from './webhook-queries.ts';

/** What each attempt sends. */
export function RequestBody({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const team = useTeam();
  const found = useQuery(deliveryRequestQuery(team.id, delivery.webhook_id, delivery.id));
  return (
    <section>
      <h3 className="mb-3 font-semibold">What is sent</h3>
      <Loaded query={found} skeleton={<Skeleton lines={3} />}>
        {({ body }) =>
          body === null ? (
            <p className="text-quiet">
              {delivery.test
                ? 'A sample event. It is not kept once it was sent.'
                : 'The event is no longer kept.'}
            </p>
          ) : (
            <BodyBlock title="JSON, by POST" text={body} what="the request" />
          )
        }
      </Loaded>
    </section>
  );
}
