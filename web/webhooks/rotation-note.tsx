import { RefreshCw } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Webhook } from '#contract/webhook.ts';
import { Button } from '#web/kit/button.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { DueTime } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import type { Task } from './webhook-actions.tsx';

/** Tells during a secret rotation that both secrets sign, and until when. */
export function RotationNote({
  webhook,
  onTask,
}: {
  readonly webhook: Webhook;
  readonly onTask: (task: Task) => void;
}): ReactNode {
  const team = useTeam();
  const { next_secret_takes_over_at: at } = webhook;
  if (at === null) return null;
  return (
    <Note tone="accent" icon={<RefreshCw />}>
      <div className="flex flex-col items-start gap-1.5">
        <p className="font-semibold">The secret is being rotated</p>
        <p>
          Requests carry the signatures of both secrets. The new one takes over <DueTime at={at} />, or as
          soon as you finish: do so once your receiver uses it.
        </p>
        {team.can('webhooks:manage') && (
          <Button size="small" className="mt-1" onClick={() => onTask('finish')}>
            Finish rotation
          </Button>
        )}
      </div>
    </Note>
  );
}
