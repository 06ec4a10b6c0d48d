import { useQuery } from '@tanstack/react-query';
import { CirclePause, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AttemptSummary, Webhook } from '#contract/webhook.ts';
import type { WebhookHealth } from '#contract/webhook-health.ts';
import { Button } from '#web/kit/button.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { exactTime } from '#web/kit/format.ts';
import { spanText } from '#web/kit/relative-time.ts';
import { Time } from '#web/kit/time.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import { adviceOf, attemptText, missedText } from './delivery-text.ts';
import { failuresMax, type HealthState, type LastAttempt, stateOf, useLastAttempt } from './health.tsx';
import { texts } from './texts.ts';
import type { WebhookPart } from './webhook-actions.tsx';
import { webhookHealthQuery } from './webhook-queries.ts';

/** Explains why a webhook fails or is off, the effect on its events, and what to do. */
export function HealthNote(props: WebhookPart): ReactNode {
  const team = useTeam();
  const last = useLastAttempt(props.webhook.id);
  const state = stateOf(props.webhook, last);
  const health = useQuery({ ...webhookHealthQuery(team.id, props.webhook.id), enabled: state !== 'active' });
  if (state === 'active') return null;
  const tone = state === 'off' ? 'bad' : state === 'failing' ? 'warn' : 'accent';
  return (
    <Note tone={tone} icon={state === 'paused' ? <CirclePause /> : <TriangleAlert />}>
      <div className="flex flex-col gap-1.5">
        <p className="font-semibold">
          <Headline webhook={props.webhook} state={state} health={health.data} />
        </p>
        {state === 'off' && <Pace health={health.data} />}
        {state !== 'paused' && <LastFailure failure={failureOf(props.webhook, last, health.data)} />}
        <p>
          <Consequence webhook={props.webhook} state={state} health={health.data} />
        </p>
        <NextSteps {...props} state={state} health={health.data} />
      </div>
    </Note>
  );
}

interface HealthOf {
  readonly webhook: Webhook;
  readonly state: HealthState;
  readonly health: WebhookHealth | undefined;
}

/** The failure that the page explains. A failed test event is explained only if no real event fails. */
const failureOf = (webhook: Webhook, last: LastAttempt | undefined, health: WebhookHealth | undefined) =>
  webhook.active && webhook.failure_count === 0 ? last : health?.last_failure;

function Headline({ webhook, state, health }: HealthOf): ReactNode {
  const { failure_count: failures } = webhook;
  const off = health?.switched_off;
  const at = off && <Time at={off.at} />;
  switch (state) {
    case 'failing':
      return failures === 0 ? texts.note.testFailed : texts.note.attemptsFailed({ count: failures });
    case 'off':
      return texts.note.switchedOff({ at, count: failuresMax });
    default:
      return off?.by === 'failures' ? texts.note.pausedAfter({ at }) : texts.note.paused({ at });
  }
}

/** Says in what time the ten attempts failed. On a busy number all ten can fail within a minute. */
function Pace({ health }: { readonly health: WebhookHealth | undefined }): ReactNode {
  const off = health?.switched_off;
  if (!off || off.failing_since === null) return null;
  return (
    <p>{texts.note.pace({ span: spanText(off.failing_since, off.at), at: exactTime(off.failing_since) })}</p>
  );
}

function LastFailure({ failure }: { readonly failure: AttemptSummary | null | undefined }): ReactNode {
  if (!failure) return null;
  return (
    <p>
      {attemptText(failure)} {adviceOf(failure)}
    </p>
  );
}

function Consequence({ webhook, health }: HealthOf): ReactNode {
  const since = health?.missed_since;
  const { active, failure_count: failures } = webhook;
  if (active) {
    return failures === 0 ? texts.note.testCounts : texts.note.untilOff({ count: failuresMax - failures });
  }
  return (
    <>
      {texts.note.nothingLost}{' '}
      {health &&
        since &&
        texts.note.missedSoFar({ events: missedText(health.missed), at: <Time at={since} /> })}
    </>
  );
}

function NextSteps({ webhook, state, health, onTask, onOpen }: WebhookPart & HealthOf): ReactNode {
  const team = useTeam();
  const failure = health?.last_failure;
  const isOff = !webhook.active;
  const canManage = team.can('webhooks:manage');
  const administrators = useAdministratorNames();
  return (
    <>
      {!canManage && (
        <p>{isOff ? texts.note.askToEnable({ administrators }) : texts.actions.ask({ administrators })}</p>
      )}
      <div className="mt-1 flex flex-wrap gap-2">
        {isOff && canManage && (
          <Button size="small" look="primary" onClick={() => onTask('enable')}>
            {texts.enable.action}
          </Button>
        )}
        {state !== 'paused' && canManage && (
          <Button size="small" onClick={() => onTask('edit')}>
            {texts.note.editAddress}
          </Button>
        )}
        {state !== 'paused' && failure && (
          <Button size="small" onClick={() => onOpen(failure.delivery_id)}>
            {texts.note.showFailure}
          </Button>
        )}
      </div>
    </>
  );
}
