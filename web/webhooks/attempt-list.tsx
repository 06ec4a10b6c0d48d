import { Check, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Attempt, DeliveryDetail, Webhook } from '#contract/webhook.ts';
import { classNames } from '#web/kit/class-names.ts';

import { StepTime } from '#web/kit/time.tsx';
import { BodyBlock } from './body-block.tsx';
import { adviceOf, attemptText } from './delivery-text.ts';
import { texts } from './texts.ts';

/** The classes of a line that leads to the next item of the list. */
const lineToNext = classNames(
  'not-last:before:absolute not-last:before:top-6 not-last:before:bottom-0 not-last:before:left-3',
  'not-last:before:w-px not-last:before:bg-line',
);

/** The attempts of a delivery, newest first, each with its response. */
export function AttemptList({
  delivery,
  webhook,
}: {
  readonly delivery: DeliveryDetail;
  readonly webhook: Webhook;
}): ReactNode {
  const { attempts, attempt_count: count } = delivery;
  if (count === 0) return null;
  const newestFirst = attempts.toReversed();
  return (
    <section>
      <h3 className="mb-3 font-semibold">{texts.attempts({ count })}</h3>
      {attempts.length === 0 && <p className="text-quiet">{texts.attempt.logGone}</p>}
      <ol className="flex flex-col">
        {newestFirst.map((attempt, index) => (
          <AttemptItem
            key={attempt.id}
            attempt={attempt}
            number={count - index}
            isLatest={index === 0}
            hasOtherUrl={attempt.url !== webhook.url}
          />
        ))}
      </ol>
    </section>
  );
}

function AttemptItem({
  attempt,
  number,
  isLatest,
  hasOtherUrl,
}: {
  readonly attempt: Attempt;
  readonly number: number;
  readonly isLatest: boolean;
  /** Whether the attempt went to an earlier URL of the webhook. */
  readonly hasOtherUrl: boolean;
}): ReactNode {
  const isGood = attempt.outcome === 'succeeded';
  const { response_body: body, response_truncated: isCut } = attempt;
  const hasBody = body !== null && body !== '';
  const answer = (
    <BodyBlock
      title={isCut ? texts.attempt.answerStart : texts.attempt.answer}
      text={body ?? ''}
      what={texts.attempt.theAnswer({ number })}
    />
  );
  return (
    <li className={classNames('relative flex gap-3 pb-5 last:pb-0', lineToNext)}>
      <span
        className={classNames(
          'grid size-6 shrink-0 place-items-center rounded-full [&_svg]:size-3.5',
          isGood ? 'bg-good-tint text-good-ink' : 'bg-bad-tint text-bad-ink',
        )}
      >
        {isGood ? <Check aria-hidden="true" /> : <X aria-hidden="true" />}
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-1.5 pt-0.5">
        <p className="flex flex-wrap justify-between gap-x-3">
          <span className="font-medium">
            {isGood ? texts.attempt.succeeded({ number }) : texts.attempt.failed({ number })}
          </span>
          <span className="text-quiet">
            <StepTime at={attempt.started_at} />
          </span>
        </p>
        <p className="text-quiet">{attemptText(attempt)}</p>
        {isLatest && !isGood && <p>{adviceOf(attempt)}</p>}
        {hasOtherUrl && <p className="text-quiet">{texts.attempt.sentTo({ url: attempt.url })}</p>}
        {attempt.response_body === '' && <p className="text-quiet">{texts.attempt.noBody}</p>}
        {hasBody && isLatest && answer}
        {hasBody && !isLatest && (
          <details>
            <summary className="w-fit text-quiet hover:text-ink max-sm:py-2">{texts.attempt.show}</summary>
            <div className="mt-1.5">{answer}</div>
          </details>
        )}
      </div>
    </li>
  );
}
