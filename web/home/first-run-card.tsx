import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Home, HomeNumber } from '#contract/home.ts';
import { queryClient } from '#web/api/query-client.ts';
import { Button, buttonStyle } from '#web/kit/button.tsx';
import { surface } from '#web/kit/card.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { simulateNumber } from '#web/numbers/number-queries.ts';
import { realFirst } from '#web/numbers/real-first.ts';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import { connectChoice } from './connect-choice.ts';
import { texts } from './texts.ts';

const { connect, send, api, events } = texts.firstRun;

interface Step {
  readonly title: string;
  readonly text: string;
  readonly isDone: boolean;
  readonly action: ReactNode;
}

/** The card `Get started`: steps to the first sent message, with an iPhone or a simulated one. */
export function FirstRunCard({ home }: { readonly home: Home }): ReactNode {
  const team = useTeam();
  const administrators = useAdministratorNames();
  const { first_run, numbers } = home;
  const params = { teamId: team.id };
  const sender = realFirst(numbers).find(({ verified }) => verified);
  const steps: readonly Step[] = [
    {
      title: connect.title,
      text: connectChoice,
      isDone: first_run.has_number,
      action: team.can('numbers:write') ? <ConnectActions /> : connect.ask({ administrators }),
    },
    {
      title: send.title,
      text: send.text,
      isDone: first_run.has_delivered,
      action: !team.can('messages:send')
        ? send.ask({ administrators })
        : sender && <WriteLink sender={sender} />,
    },
    {
      title: api.title,
      text: api.text,
      isDone: first_run.has_key_used,
      action: team.can('keys:manage') && (
        <Link to="/teams/$teamId/keys" params={params} className={buttonStyle({ size: 'small' })}>
          {api.create}
        </Link>
      ),
    },
    {
      title: events.title,
      text: events.text,
      isDone: first_run.has_webhook,
      action: team.can('webhooks:manage') && (
        <Link to="/teams/$teamId/webhooks" params={params} className={buttonStyle({ size: 'small' })}>
          {events.create}
        </Link>
      ),
    },
  ];
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <section className={`overflow-hidden ${surface}`}>
      <header className="px-5 pt-4 pb-3">
        <h2 className="text-[0.9375rem] font-semibold">{texts.firstRun.title}</h2>
        <p className="text-quiet">{texts.firstRun.about}</p>
      </header>
      <ol>
        {steps.map((step, index) => (
          <StepRow key={step.title} step={step} number={index + 1} isNext={step === next} />
        ))}
      </ol>
    </section>
  );
}

function StepRow({
  step: { title, text, isDone, action },
  number,
  isNext,
}: {
  readonly step: Step;
  readonly number: number;
  readonly isNext: boolean;
}): ReactNode {
  return (
    <li
      className={classNames(
        'flex items-start gap-3.5 border-t border-line px-5 py-3.5',
        isNext && 'bg-accent-tint/40',
      )}
    >
      <span
        className={classNames(
          'mt-0.5 grid size-6 shrink-0 place-items-center rounded-full text-xs font-semibold',
          isDone
            ? 'bg-good-tint text-good-ink'
            : isNext
              ? 'bg-accent text-on-accent'
              : 'bg-sunken text-quiet',
        )}
      >
        {isDone ? <Check aria-label={texts.firstRun.done} className="size-3.5" /> : number}
      </span>
      <div className="min-w-0 flex-1">
        <h3 className={classNames('font-medium', isDone && 'text-quiet')}>{title}</h3>
        {!isDone && <p className="mt-0.5 text-quiet">{text}</p>}
        {!isDone && action && <div className="mt-2.5 flex flex-wrap gap-2 text-quiet">{action}</div>}
      </div>
    </li>
  );
}

function ConnectActions(): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const adding = useMutation({
    mutationFn: () => simulateNumber(team.id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [team.id, 'number'] }),
  });
  return (
    <>
      <Button
        look="primary"
        size="small"
        onClick={() =>
          void navigate({
            to: '/teams/$teamId/numbers',
            params: { teamId: team.id },
            search: { connect: true },
          })
        }
      >
        {connect.connect}
      </Button>
      <Button size="small" isBusy={adding.isPending} onClick={() => adding.mutate()}>
        {connect.simulate}
      </Button>
      {adding.error && <ErrorNote error={adding.error} className="basis-full" />}
    </>
  );
}

/** Links to a first conversation. A simulated number writes to a fictional contact. */
function WriteLink({ sender }: { readonly sender: HomeNumber }): ReactNode {
  const team = useTeam();
  const style = buttonStyle({ look: 'primary', size: 'small' });
  if (!sender.simulated) {
    return (
      <Link to="/teams/$teamId/conversations" params={{ teamId: team.id }} className={style}>
        {send.open}
      </Link>
    );
  }
  return (
    <Link
      to="/teams/$teamId/conversations/$phoneNumber/$contact"
      params={{
        teamId: team.id,
        phoneNumber: sender.phone_number,
        contact: exampleContact(sender.phone_number),
      }}
      className={style}
    >
      {send.writeToFictional}
    </Link>
  );
}

const exampleContact = (own: string) => (own === '+14155550123' ? '+14155550124' : '+14155550123');
