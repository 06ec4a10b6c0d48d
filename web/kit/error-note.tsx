import { Link, useParams } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '#web/api/request.ts';
import { classNames } from './class-names.ts';

/** Why something did not work, in the sentence of the server. A limit of the plan leads to the page of usage. */
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

const retrySeconds = /Retry in \d+ seconds/;

/** The sentence of the server, with its seconds to wait in words. */
function sentenceOf(error: Error): string {
  if (!(error instanceof ApiError) || error.retryAfter === undefined) return error.message;
  return error.message.replace(retrySeconds, `You can try again in ${waitInWords(error.retryAfter)}`);
}

function NextStep({ error: { status, retryAfter, message } }: { readonly error: ApiError }): ReactNode {
  const { teamId } = useParams({ strict: false }) as { readonly teamId?: string };
  if (status === 402 && teamId !== undefined) {
    return (
      <Link to="/teams/$teamId/usage" params={{ teamId }} className="mt-1 block font-medium underline">
        See usage and plans
      </Link>
    );
  }
  if (status !== 429 || retryAfter === undefined || retrySeconds.test(message)) return null;
  return <p className="mt-1">You can try again in {waitInWords(retryAfter)}.</p>;
}

function waitInWords(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

const tones = {
  accent: 'bg-accent-tint text-accent-ink',
  warn: 'bg-warn-tint text-warn-ink',
  bad: 'bg-bad-tint text-bad-ink',
  good: 'bg-good-tint text-good-ink',
};

/** A sentence that stands out: a warning, a hint, an error. */
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
