import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { RotatedSecret, Webhook } from '#contract/webhook.ts';
import { Confirm } from '#web/kit/confirm.tsx';
import { exactTime } from '#web/kit/format.ts';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { EnableDialog } from './enable-dialog.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import type { Task } from './webhook-actions.tsx';
import { WebhookForm } from './webhook-form.tsx';
import {
  deleteWebhook,
  finishRotation,
  refreshWebhooks,
  rotateSecret,
  updateWebhook,
} from './webhook-queries.ts';

export function WebhookTask({
  task,
  webhook,
  onDone,
}: {
  readonly task: Task | undefined;
  readonly webhook: Webhook;
  readonly onDone: () => void;
}): ReactNode {
  const { id: teamId } = useTeam();
  const navigate = useNavigate();
  const [rotated, setRotated] = useState<RotatedSecret>();
  const { id } = webhook;
  if (rotated) {
    return (
      <SecretDialog
        title="Save the next secret"
        secret={rotated.secret}
        onClose={() => setRotated(undefined)}
      >
        Until {exactTime(rotated.takes_over_at)}, or until you finish, requests carry the signatures of both
        secrets: let your receiver use this one, then finish the rotation.
      </SecretDialog>
    );
  }
  switch (task) {
    case 'edit':
      return (
        <WebhookForm
          title="Edit the webhook"
          webhook={webhook}
          onClose={onDone}
          onSave={async (body) => {
            await updateWebhook(teamId, id, body);
            await refreshWebhooks(teamId);
            onDone();
            notify('The webhook is saved');
          }}
        />
      );
    case 'enable':
      return <EnableDialog webhook={webhook} onClose={onDone} />;
    case 'replay':
      return <ReplayDialog webhook={webhook} onClose={onDone} />;
    case 'pause':
      return (
        <Confirm
          isOpen
          isDangerous={false}
          onClose={onDone}
          title="Pause the webhook?"
          action="Pause webhook"
          keep="Cancel"
          onConfirm={async () => {
            await updateWebhook(teamId, id, { active: false });
            await refreshWebhooks(teamId);
          }}
        >
          <p>
            Nothing is sent until you enable it. Events that wait now, and those that come, are kept as
            skipped.
          </p>
          <p>When you enable it, you can have them sent.</p>
        </Confirm>
      );
    case 'rotate':
      return (
        <Confirm
          isOpen
          isDangerous={false}
          onClose={onDone}
          title="Rotate the secret?"
          action="Show the next secret"
          keep="Cancel"
          onConfirm={async () => {
            const next = await rotateSecret(teamId, id);
            await refreshWebhooks(teamId);
            setRotated(next);
          }}
        >
          <p>
            You get a next secret. For 24 hours, or until you finish, requests carry the signatures of both.
          </p>
          <p>So your receiver can change to it at any moment, and misses nothing.</p>
        </Confirm>
      );
    case 'finish':
      return (
        <Confirm
          isOpen
          onClose={onDone}
          title="Finish the rotation?"
          action="Finish rotation"
          keep="Cancel"
          onConfirm={async () => {
            await finishRotation(teamId, id);
            await refreshWebhooks(teamId);
            notify('The new secret signs alone');
          }}
        >
          <p>
            Requests are signed with the new secret alone. A receiver that still uses the old one refuses
            them.
          </p>
        </Confirm>
      );
    case 'delete':
      return (
        <Confirm
          isOpen
          onClose={onDone}
          title="Delete the webhook?"
          action="Delete webhook"
          onConfirm={async () => {
            await deleteWebhook(teamId, id);
            await navigate({ to: '/teams/$teamId/webhooks', params: { teamId } });
            await refreshWebhooks(teamId);
            notify('The webhook is deleted');
          }}
        >
          <p>
            Nothing more is sent to {webhook.url}. What waits for it, its log and its secret are gone for
            good.
          </p>
        </Confirm>
      );
    default:
      return null;
  }
}
