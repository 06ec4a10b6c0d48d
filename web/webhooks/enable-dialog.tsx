import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Checkbox } from '#web/kit/checkbox.tsx';
import { exactTime } from '#web/kit/format.ts';
import { ActionDialog } from '#web/kit/task-dialog.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { missedText } from './delivery-text.ts';
import { texts } from './texts.ts';
import type { WebhookDialogProps } from './webhook-actions.tsx';
import { refreshWebhooks, replay, updateWebhook, webhookHealthQuery } from './webhook-queries.ts';

/** Enables a webhook, and optionally replays the deliveries that it missed. */
export function EnableDialog({ webhook, onClose }: WebhookDialogProps): ReactNode {
  const team = useTeam();
  const health = useQuery(webhookHealthQuery(team.id, webhook.id));
  // Keeps the time since which events were missed, because enabling the webhook clears it.
  const since = health.data?.missed_since ?? null;
  const [isReplaying, setIsReplaying] = useState(true);
  const work = useMutation({
    mutationFn: async () => {
      await updateWebhook(team.id, webhook.id, { active: true });
      if (since === null || !isReplaying) return 0;
      return (await replay(team.id, webhook.id, { since, only: 'all' })).queued;
    },
    onSuccess: async (queued) => {
      await refreshWebhooks(team.id);
      onClose();
      notify(texts.enable.enabled, queued > 0 ? texts.enable.sentNow({ count: queued }) : undefined);
    },
  });
  return (
    <ActionDialog
      isOpen
      onClose={onClose}
      title={texts.enable.question}
      action={texts.enable.action}
      work={work}
      isDisabled={health.isPending}
    >
      <p className="text-quiet">{texts.enable.effect(webhook)}</p>
      {since !== null && (
        <Checkbox
          label={texts.enable.sendMissed}
          hint={texts.enable.missed({ events: missedText(health.data?.missed ?? 0), at: exactTime(since) })}
          isOn={isReplaying}
          onChange={setIsReplaying}
        />
      )}
    </ActionDialog>
  );
}
