import { Link, useParams } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { createContext, type ReactNode, useContext } from 'react';
import { ApiError } from '#web/api/request.ts';
import { classNames } from './class-names.ts';
import { utcDay } from './format.ts';
import { RetryTime } from './retry-time.tsx';
import { texts } from './texts.ts';

/** Advice on a larger plan, shown with errors of a plan limit. */
export const LimitHelp = createContext<ReactNode>(null);

/** The message of an error. With a plan limit it links to the usage page. */
export function ErrorNote({
  error,
  className,
}: {
  readonly error: Error;
  readonly className?: string;
}): ReactNode {
  return (
    <Note tone="bad" className={className}>
      <span role="alert">{sentenceOf(error)}</span>
      {error instanceof ApiError && <NextStep error={error} />}
    </Note>
  );
}

/** Whether the error is a 429 that names the time of the next try. */
export const isRateLimited = (error: Error): error is ApiError =>
  error instanceof ApiError && error.status === 429 && error.retryAfter !== undefined;

/** The server's message without the seconds to wait, which RetryTime counts down. */
export function sentenceOf(error: Error): string {
  if (isRateLimited(error))
    return error.message
      .replace(/ Retry in \d+ seconds?\.$/, '')
      .replace(/Retry in \d+ seconds?, or/, 'Wait, or');
  if (!(error instanceof ApiError) || error.status !== 402) return error.message;
  if (error.param?.startsWith('media_')) return texts.planLimits.files;
  const { limit, resets_at: resetsAt, upgrade_url: upgradeUrl } = error.details;
  if (typeof resetsAt !== 'string' || typeof limit !== 'number')
    return error.message.replace(`see ${upgradeUrl} for a larger plan`, 'get a larger plan');
  if (limit === 0) return texts.planLimits.zero;
  return texts.planLimits.usedUp({ limit, day: utcDay(resetsAt) });
}

function NextStep({ error }: { readonly error: ApiError }): ReactNode {
  const teamId = useParams({ from: '/teams/$teamId', shouldThrow: false })?.teamId;
  const limitHelp = useContext(LimitHelp);
  if (error.status === 402 && teamId !== undefined) {
    return (
      <p className="mt-1">
        {limitHelp}{' '}
        <Link to="/teams/$teamId/usage" params={{ teamId }} className="font-medium underline">
          {texts.planLimits.toUsage}
        </Link>
      </p>
    );
  }
  return isRateLimited(error) ? <RetryTime error={error} /> : null;
}

const tones = {
  accent: 'bg-accent-tint text-accent-ink',
  warn: 'bg-warn-tint text-warn-ink',
  bad: 'bg-bad-tint text-bad-ink',
  good: 'bg-good-tint text-good-ink',
};

export function Note({
  tone,
  icon = <TriangleAlert />,
  className,
  children,
}: {
  readonly tone: keyof typeof tones;
  readonly icon?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div
      className={classNames(
        'flex gap-2.5 rounded-lg px-3.5 py-2.5 [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0',
        tones[tone],
        className,
      )}
    >
      {icon}
      <div className="min-w-0">{children}</div>
    </div>
  );
}
