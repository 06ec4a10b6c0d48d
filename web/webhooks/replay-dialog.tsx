import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ReplayChoice, replayedMax as replayedMaxOfContract } from '#contract/webhook.ts';
import { nowMs } from '#web/kit/clock.ts';
import { TextField } from '#web/kit/field.tsx';
import { exactTime } from '#web/kit/format.ts';
import { Select } from '#web/kit/select.tsx';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';
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
      title={texts.replay.title}
      description={texts.replay.about}
      action={texts.replay.action}
      work={work}
      fields={since === 'custom' ? ['since'] : []}
      onSubmit={({ since: own = '' }) => work.mutate(own)}
    >
      <Select<Since>
        label={texts.replay.since}
        value={since}
        options={[
          ...(missed === null
            ? []
            : [['missed', texts.replay.firstMissed({ at: exactTime(missed) })] as const]),
          ['hour', texts.replay.hour],
          ['day', texts.replay.day],
          ['week', texts.replay.week],
          ['custom', texts.replay.custom],
        ]}
        onChange={setChosen}
      />
      {since === 'custom' && (
        <TextField name="since" label={texts.replay.dateAndTime} type="datetime-local" required />
      )}
      <Select<ReplayChoice>
        label={texts.replay.which}
        value={only}
        options={[
          ['all', texts.replay.all],
          ['failed', texts.replay.failed],
          ['skipped', texts.replay.skipped],
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
  if (queued === 0) return [texts.replay.none, texts.replay.whyNone];
  const title = texts.replay.queued({ count: queued });
  return [title, queued < replayedMax ? texts.replay.inLog : texts.replay.most({ count: replayedMax })];
}
