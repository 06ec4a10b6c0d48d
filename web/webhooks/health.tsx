import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { failuresMax as failuresMaxOfContract, Webhook } from '#contract/webhook.ts';
import type { LastAttempts } from '#contract/webhook-health.ts';
import { Badge, type Tone } from '#web/kit/badge.tsx';

import { Time } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';
import { lastAttemptsQuery } from './webhook-queries.ts';

/** Consecutive failures that disable a webhook. The type keeps the number equal to the contract's. */
export const failuresMax: typeof failuresMaxOfContract = 10;

export type HealthState = 'active' | 'failing' | 'off' | 'paused';

const badges: Readonly<Record<HealthState, readonly [Tone, string]>> = {
  active: ['good', texts.states.active],
  failing: ['warn', texts.states.failing],
  off: ['bad', texts.states.off],
  paused: ['neutral', texts.states.paused],
};

export type LastAttempt = LastAttempts['last_attempts'][number];

/** Returns the latest attempt of a webhook; undefined for none. */
export function useLastAttempt(webhookId: string): LastAttempt | undefined {
  const team = useTeam();
  const { data } = useQuery(lastAttemptsQuery(team.id));
  return data?.last_attempts.find(({ webhook_id }) => webhook_id === webhookId);
}

/**
 * The state of a webhook. `failing`: the last attempt failed, or the last test event to its current URL failed. `off`:
 * disabled by consecutive failures. `paused`: disabled by a request.
 */
export function stateOf(webhook: Webhook, last: LastAttempt | undefined): HealthState {
  const { active, failure_count: failures, url } = webhook;
  if (!active) return failures >= failuresMax ? 'off' : 'paused';
  const hasFailedTest = last?.test && last.outcome !== 'succeeded' && last.url === url;
  return failures > 0 || hasFailedTest ? 'failing' : 'active';
}

export function HealthBadge({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const [tone, text] = badges[stateOf(webhook, useLastAttempt(webhook.id))];
  return (
    <Badge tone={tone} hasDot>
      {text}
    </Badge>
  );
}

/** The state of a webhook in a few words, for a row of the list. */
export function HealthText({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { failure_count: failures, last_triggered_at: lastAt } = webhook;
  const last = useLastAttempt(webhook.id);
  switch (stateOf(webhook, last)) {
    case 'failing':
      return failures > 0 ? texts.stateWords.failures({ count: failures }) : texts.stateWords.testFailed;
    case 'off':
      return texts.stateWords.off({ count: failuresMax });
    case 'paused':
      return texts.stateWords.paused;
    default:
      return lastAt === null ? texts.stateWords.noEvent : lastSent(lastAt, last?.test ?? false);
  }
}

function lastSent(lastAt: string, isTest: boolean): ReactNode {
  const at = <Time at={lastAt} />;
  return isTest ? texts.stateWords.lastTest({ at }) : texts.stateWords.lastEvent({ at });
}
