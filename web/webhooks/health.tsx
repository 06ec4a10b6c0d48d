import type { ReactNode } from 'react';
import type { failuresMax as failuresMaxOfContract, Webhook } from '#contract/webhook.ts';
import { Badge, type Tone } from '#web/kit/badge.tsx';
import { counted } from '#web/kit/format.ts';
import { Time } from '#web/kit/text.tsx';

/** Consecutive failures that disable a webhook. The type keeps the number equal to the contract's. */
export const failuresMax: typeof failuresMaxOfContract = 10;

type HealthState = 'active' | 'failing' | 'off' | 'paused';

const badges: Readonly<Record<HealthState, readonly [Tone, string]>> = {
  active: ['good', 'Active'],
  failing: ['warn', 'Failing'],
  off: ['bad', 'Switched off'],
  paused: ['neutral', 'Paused'],
};

/** The state of a webhook. `off`: disabled by consecutive failures. `paused`: disabled by a request. */
export function stateOf({ active, failure_count }: Webhook): HealthState {
  if (active) return failure_count > 0 ? 'failing' : 'active';
  return failure_count >= failuresMax ? 'off' : 'paused';
}

export function HealthBadge({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const [tone, text] = badges[stateOf(webhook)];
  return (
    <Badge tone={tone} hasDot>
      {text}
    </Badge>
  );
}

/** The state of a webhook in a few words, for a row of the list. */
export function HealthText({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { failure_count: failures, last_triggered_at: lastAt } = webhook;
  switch (stateOf(webhook)) {
    case 'failing':
      return `${counted(failures, 'failure')} in a row`;
    case 'off':
      return `after ${failuresMax} failures in a row`;
    case 'paused':
      return 'sends nothing until it is enabled';
    default:
      return lastAt === null ? 'no event yet' : <Sent at={lastAt} />;
  }
}

function Sent({ at }: { readonly at: string }): ReactNode {
  return (
    <>
      last event <Time at={at} />
    </>
  );
}
