import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ReplayChoice, replayedMax as replayedMaxOfContract } from '#contract/webhook.ts';
import { nowMs } from '#web/kit/clock.ts';
import { Select, TextField } from '#web/kit/field.tsx';
import { amount, counted, exactTime } from '#web/kit/format.ts';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import type { WebhookDialogProps } from './webhook-actions.tsx';
import { refreshWebhooks, replay, webhookHealthQuery } from './webhook-queries.ts';

const replayedMax: typeof replayedMaxOfContract = 100_000;

const hourMs = 3_600_000;
const spans = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs } as const;
type Since = keyof typeof spans | 'missed' | 'custom';

/** Replays the deliveries that a webhook has missed since a time. */
export function ReplayDialog({ webhook, onClose }: WebhookDialogProps): ReactNode {
  const team = useTeam();
  const missed = useQuery(webhookHealthQuery(team.id, webhook.id)).data?.missed_since ?? null;
  const [chosen, setChosen] = useState<Since>();
  const [only, setOnly] = useState<ReplayChoice>('all');
  const since = chosen ?? (missed === null ? 'day' : 'missed');
  const work = useMutation({
    mutationFn: (own: string) => replay(team.id, webhook.id, { since: momentOf(since, missed, own), only }),
    onSuccess: async ({ queued }) => {
      await refreshWebhooks(team.id);
      onClose();
      notify(...resultOf(queued));
    },
  });
  return (
    <FormDialog
      isOpen
      onClose={onClose}
      title="Send missed events again"
      description="Each once, oldest first, and none that was delivered."
      action="Send again"
      work={work}
      fields={since === 'custom' ? ['since'] : []}
      onSubmit={({ since: own = '' }) => work.mutate(own)}
    >
      <Select<Since>
        label="Events since"
        value={since}
        options={[
          ...(missed === null
            ? []
            : [['missed', `The first that it missed (${exactTime(missed)})`] as const]),
          ['hour', 'An hour ago'],
          ['day', '24 hours ago'],
          ['week', '7 days ago'],
          ['custom', 'Another time'],
        ]}
        onChange={setChosen}
      />
      {since === 'custom' && <TextField name="since" label="Date and time" type="datetime-local" required />}
      <Select<ReplayChoice>
        label="Deliveries that"
        value={only}
        options={[
          ['all', 'failed or were skipped'],
          ['failed', 'failed'],
          ['skipped', 'were skipped'],
        ]}
        onChange={setOnly}
      />
    </FormDialog>
  );
}

/** Returns the start of the replay. @param own the value of the date and time field, in the browser's time zone */
function momentOf(since: Since, missed: string | null, own: string): string {
  if (since === 'missed' && missed !== null) return missed;
  if (since === 'custom') return Number.isNaN(Date.parse(own)) ? own : new Date(own).toISOString();
  const spanMs = since === 'missed' ? spans.day : spans[since];
  return new Date(nowMs() - spanMs).toISOString();
}

function resultOf(queued: number): [string, string] {
  if (queued === 0) return ['Nothing was missed', 'Every event since then was delivered, or is on its way.'];
  const title = queued === 1 ? 'One event is sent again' : `${amount(queued)} events are sent again`;
  if (queued < replayedMax) return [title, 'The log shows what becomes of them.'];
  return [title, `${counted(replayedMax, 'event')} are the most at once: repeat it for the rest.`];
}
