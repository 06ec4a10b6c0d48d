import { useQuery, useQueryClient } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { heldCountMax, type RestoreState } from '#contract/restore.ts';
import { teamRequest } from '#web/api/team-requests.ts';
import { Button } from '#web/kit/button.tsx';
import { exactTime } from '#web/kit/format.ts';
import { overviewQuery, type useOverview } from '#web/shell/session.ts';
import { ResumeDialog } from './resume-dialog.tsx';
import { texts } from './texts.ts';

const lookMs = 30_000;

/** States what a restore or an outage holds back, and offers to resume. */
export function HeldBanner({ teamId }: { readonly teamId: string }): ReactNode {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: [teamId, 'restore'],
    queryFn: () => teamRequest<RestoreState>(teamId, 'GET', '/restore'),
    refetchInterval: lookMs,
  });
  if (!data?.held || data.held_at === null) return null;
  const { waiting, backup_taken_at: backupTakenAt, held_at: heldAt } = data;
  const messages = waiting && upToMax(waiting.messages, texts.messages, texts.manyMessages);
  return (
    <section
      aria-label={backupTakenAt ? texts.restoredServer : texts.heldMessages}
      className="flex items-center gap-x-4 gap-y-2 border-b border-line bg-warn-tint px-4 py-2.5 text-[0.8125rem] text-warn-ink max-sm:flex-wrap md:px-6"
    >
      <History aria-hidden="true" className="size-4 shrink-0 max-sm:hidden" />
      <p className="min-w-0 flex-1 max-sm:basis-full">
        <strong className="font-semibold">
          {backupTakenAt
            ? texts.restored({ at: exactTime(backupTakenAt) })
            : texts.held({ at: exactTime(heldAt) })}
        </strong>{' '}
        {!waiting || !messages
          ? texts.whoDecides
          : backupTakenAt
            ? texts.waiting({
                messages,
                deliveries: upToMax(waiting.deliveries, texts.deliveries, texts.manyDeliveries),
                mails: upToMax(waiting.mails, texts.mails, texts.manyMails),
              })
            : texts.waitingMessages({ messages })}
      </p>
      {waiting && (
        <>
          <Button size="small" onClick={() => setOpen(true)}>
            {texts.resume}
          </Button>
          <ResumeDialog
            isOpen={isOpen}
            onClose={() => setOpen(false)}
            backupTakenAt={backupTakenAt}
            heldAt={heldAt}
            onResume={async (choices) => {
              await teamRequest(teamId, 'POST', '/restore/resume', choices);
              client.setQueryData(
                overviewQuery.queryKey,
                (overview: ReturnType<typeof useOverview> | undefined) =>
                  overview && { ...overview, is_held: false },
              );
              await client.invalidateQueries({ queryKey: [teamId] });
            }}
          />
        </>
      )}
    </section>
  );
}

type Counted = typeof texts.messages;

const upToMax = (count: number, exactly: Counted, more: Counted) =>
  count > heldCountMax ? more({ count: heldCountMax }) : exactly({ count });
