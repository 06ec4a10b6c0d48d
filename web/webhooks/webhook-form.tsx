import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { CreateWebhookRequest, Webhook } from '#contract/webhook.ts';
import { ApiError } from '#web/api/request.ts';
import { FormDialog } from '#web/kit/task-dialog.tsx';
import { Hint } from '#web/kit/text.tsx';
import { PlanLimitNote } from '#web/usage/plan-limit-note.tsx';
import { texts } from './texts.ts';
import { type WebhookChoices, WebhookFields, webhookFields } from './webhook-fields.tsx';

export function WebhookForm({
  title,
  webhook,
  onSave,
  onClose,
}: {
  readonly title: string;
  /** The webhook to change; undefined to create one. */
  readonly webhook?: Webhook;
  readonly onSave: (body: CreateWebhookRequest) => Promise<unknown>;
  readonly onClose: () => void;
}): ReactNode {
  const [choices, setChoices] = useState<WebhookChoices>({
    events: webhook?.events ?? ['message.received'],
    number: webhook?.phone_number ?? '',
  });
  const save = useMutation({
    mutationFn: (url: string) => {
      const { events, number } = choices;
      if (events.length === 0) return Promise.reject(noEvent);
      const phone_number = number === '' ? null : number;
      return onSave({ url: url.trim(), events: [...events], phone_number }).catch((error: Error) => {
        throw explained(error, url.trim());
      });
    },
  });
  return (
    <FormDialog
      isOpen
      onClose={onClose}
      title={title}
      action={webhook ? texts.form.saveChanges : texts.create}
      work={save}
      isHeld
      fields={webhookFields}
      onSubmit={({ url = '' }) => save.mutate(url)}
    >
      {!webhook && !save.error && <PlanLimitNote resource="webhooks" />}
      <WebhookFields url={webhook?.url} choices={choices} onChoose={setChoices} />
      {webhook && <Hint>{texts.form.newAddress}</Hint>}
    </FormDialog>
  );
}

/** Explains refusals of a URL without the names of server settings, which a member cannot change. */
function explained(error: Error, url: string): Error {
  if (!(error instanceof ApiError) || error.param !== 'url') return error;
  const message = !/^https:/i.test(url)
    ? texts.form.needsHttps
    : error.message.includes('EGRESS_ALLOW_CIDRS')
      ? texts.form.private
      : error.message;
  return new ApiError(error.status, { ...error.details, code: error.code, message, param: 'url' });
}

const noEvent = new ApiError(400, {
  code: 'invalid_request',
  message: texts.form.noEvent,
  param: 'events',
});
