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
import { texts } from './texts.ts';
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
        title={texts.secret.nextTitle}
        secret={rotated.secret}
        onClose={() => setRotated(undefined)}
      >
        {texts.secret.whatNext({ at: exactTime(rotated.takes_over_at) })}
      </SecretDialog>
    );
  }
  switch (task) {
    case 'edit':
      return (
        <WebhookForm
          title={texts.form.editTitle}
          webhook={webhook}
          onClose={onDone}
          onSave={async (body) => {
            await updateWebhook(teamId, id, body);
            await refreshWebhooks(teamId);
            onDone();
            notify(texts.form.saved);
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
          title={texts.pause.question}
          action={texts.pause.action}
          keep={texts.cancel}
          onConfirm={async () => {
            await updateWebhook(teamId, id, { active: false });
            await refreshWebhooks(teamId);
          }}
        >
          <p>{texts.pause.effect}</p>
          <p>{texts.pause.later}</p>
        </Confirm>
      );
    case 'rotate':
      return (
        <Confirm
          isOpen
          isDangerous={false}
          onClose={onDone}
          title={texts.rotation.question}
          action={texts.rotation.showNext}
          keep={texts.cancel}
          onConfirm={async () => {
            const next = await rotateSecret(teamId, id);
            await refreshWebhooks(teamId);
            setRotated(next);
          }}
        >
          <p>{texts.rotation.effect}</p>
          <p>{texts.rotation.missesNothing}</p>
        </Confirm>
      );
    case 'finish':
      return (
        <Confirm
          isOpen
          onClose={onDone}
          title={texts.rotation.finishQuestion}
          action={texts.rotation.finish}
          keep={texts.cancel}
          onConfirm={async () => {
            await finishRotation(teamId, id);
            await refreshWebhooks(teamId);
            notify(texts.rotation.finished);
          }}
        >
          <p>{texts.rotation.finishEffect}</p>
        </Confirm>
      );
    case 'delete':
      return (
        <Confirm
          isOpen
          onClose={onDone}
          title={texts.delete.question}
          action={texts.delete.action}
          onConfirm={async () => {
            await deleteWebhook(teamId, id);
            await navigate({ to: '/teams/$teamId/webhooks', params: { teamId } });
            await refreshWebhooks(teamId);
            notify(texts.delete.deleted);
          }}
        >
          <p>{texts.delete.effect(webhook)}</p>
        </Confirm>
      );
    default:
      return null;
  }
}
