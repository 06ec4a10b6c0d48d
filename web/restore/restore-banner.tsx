import { useQuery, useQueryClient } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { heldCountMax, type RestoreState } from '#contract/restore.ts';
import { teamRequest } from '#web/api/team-requests.ts';
import { Button } from '#web/kit/button.tsx';
import { amount, counted, exactTime } from '#web/kit/format.ts';
import { overviewQuery, useOverview } from '#web/shell/session.ts';
import { ResumeDialog } from './resume-dialog.tsx';

const lookMs = 30_000;

/** A banner on every page during a restore hold (specification section 10.8). */
export function RestoreBanner({ teamId }: { readonly teamId: string }): ReactNode {
  const { restore_hold: isHeld } = useOverview();
  return isHeld ? <HeldBanner teamId={teamId} /> : null;
}

function HeldBanner({ teamId }: { readonly teamId: string }): ReactNode {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: [teamId, 'restore'],
    queryFn: () => teamRequest<RestoreState>(teamId, 'GET', '/restore'),
    refetchInterval: lookMs,
  });
  if (!data?.held || data.backup_taken_at === null) return null;
  const { waiting } = data;
  return (
    <section
      aria-label="Restored server"
      className="flex items-center gap-x-4 gap-y-2 border-b border-line bg-warn-tint px-4 py-2.5 text-[0.8125rem] text-warn-ink max-sm:flex-wrap md:px-6"
    >
      <History aria-hidden="true" className="size-4 shrink-0 max-sm:hidden" />
      <p className="min-w-0 flex-1 max-sm:basis-full">
        <strong className="font-semibold">
          This server was restored from the backup of {exactTime(data.backup_taken_at)}. Nothing is sent until
          it is resumed.
        </strong>{' '}
        {waiting
          ? `Waiting from the backup: ${upToMax(waiting.messages, 'message')}, ${deliveries(waiting.deliveries)} and ${upToMax(waiting.mails, 'mail')}.`
          : 'An owner of the first team, or the person who runs this server, decides.'}
      </p>
      {waiting && (
        <>
          <Button size="small" onClick={() => setOpen(true)}>
            Resume …
          </Button>
          <ResumeDialog
            isOpen={isOpen}
            onClose={() => setOpen(false)}
            backupTakenAt={data.backup_taken_at}
            onResume={async (choices) => {
              await teamRequest(teamId, 'POST', '/restore/resume', choices);
              client.setQueryData(
                overviewQuery.queryKey,
                (overview: ReturnType<typeof useOverview> | undefined) =>
                  overview && { ...overview, restore_hold: false },
              );
              await client.invalidateQueries({ queryKey: [teamId] });
            }}
          />
        </>
      )}
    </section>
  );
}

function upToMax(count: number, noun: string): string {
  return count > heldCountMax ? `more than ${counted(heldCountMax, noun)}` : counted(count, noun);
}

function deliveries(count: number): string {
  if (count > heldCountMax) return `more than ${amount(heldCountMax)} deliveries to webhooks`;
  return count === 1 ? '1 delivery to a webhook' : `${amount(count)} deliveries to webhooks`;
}
