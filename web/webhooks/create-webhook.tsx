import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { CreatedWebhook } from '#contract/webhook.ts';
import { useTeam } from '#web/shell/session.ts';
import { SecretDialog } from './secret-dialog.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { createWebhook, refreshWebhooks } from './webhook-queries.ts';

/** Creates a webhook and shows its secret. Then it opens the webhook's page, where a test can be sent. */
export function CreateWebhook({ onClose }: { readonly onClose: () => void }): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const [made, setMade] = useState<CreatedWebhook>();
  if (made) {
    const leave = () => {
      onClose();
      void navigate({
        to: '/teams/$teamId/webhooks/$webhookId',
        params: { teamId: team.id, webhookId: made.id },
      });
    };
    return (
      <SecretDialog title="Save the secret of the webhook" secret={made.secret} onClose={leave}>
        The receiver verifies with it that a request comes from Ownline. Once it runs, send it a test event
        from the page of the webhook.
      </SecretDialog>
    );
  }
  return (
    <WebhookForm
      title="Create a webhook"
      onClose={onClose}
      onSave={async (body) => {
        setMade(await createWebhook(team.id, body));
        await refreshWebhooks(team.id);
      }}
    />
  );
}
