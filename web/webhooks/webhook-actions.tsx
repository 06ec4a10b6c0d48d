import { useMutation } from '@tanstack/react-query';
import { Ellipsis, Pause, Pencil, Play, RefreshCw, Send, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Webhook } from '#contract/webhook.ts';
import { Button, IconButton } from '#web/kit/button.tsx';
import { Menu, MenuItem, MenuSeparator } from '#web/kit/menu.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';
import { refreshWebhooks, sendTest } from './webhook-queries.ts';

/** An action on a webhook that opens a dialog. */
export type Task = 'edit' | 'pause' | 'enable' | 'rotate' | 'finish' | 'replay' | 'delete';

/** The properties of a part of a webhook's page. */
export interface WebhookPart {
  readonly webhook: Webhook;
  readonly onTask: (task: Task) => void;
  /** Opens a delivery. */
  readonly onOpen: (deliveryId: string) => void;
}

/** The properties of a dialog about a webhook. */
export interface WebhookDialogProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

/** The buttons of a webhook's page; none without the permission to manage webhooks. */
export function WebhookActions({ webhook, onTask, onOpen }: WebhookPart): ReactNode {
  const team = useTeam();
  const test = useTest(webhook.id, onOpen);
  const administrators = useAdministratorNames();
  if (!team.can('webhooks:manage')) {
    return <p className="text-quiet">{texts.actions.ask({ administrators })}</p>;
  }
  const isRotating = webhook.next_secret_takes_over_at !== null;
  return (
    <>
      <Button isBusy={test.isPending} onClick={() => test.mutate()}>
        <Send /> {texts.actions.sendTest}
      </Button>
      <Button onClick={() => onTask('edit')}>
        <Pencil /> {texts.actions.edit}
      </Button>
      <Menu
        trigger={
          <IconButton label={texts.actions.more} look="second">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => onTask(webhook.active ? 'pause' : 'enable')}>
          {webhook.active ? <Pause /> : <Play />}{' '}
          {webhook.active ? texts.actions.pause : texts.actions.enable}
        </MenuItem>
        <MenuItem onSelect={() => onTask(isRotating ? 'finish' : 'rotate')}>
          <RefreshCw /> {isRotating ? texts.rotation.finish : texts.rotation.rotate}
        </MenuItem>
        <MenuSeparator />
        <MenuItem isDangerous onSelect={() => onTask('delete')}>
          <Trash2 /> {texts.actions.delete}
        </MenuItem>
      </Menu>
    </>
  );
}

export function useTest(webhookId: string, onTested: (deliveryId: string) => void) {
  const team = useTeam();
  return useMutation({
    mutationFn: () => sendTest(team.id, webhookId),
    onSuccess: async ({ id }) => {
      onTested(id);
      await refreshWebhooks(team.id);
    },
    onError: (error) => notify(texts.actions.notSent, error.message),
  });
}
