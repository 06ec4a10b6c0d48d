import { type ReactNode, useState } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { SetupReply } from '#contract/setup.ts';
import { clockTimeFor, timeOfDay } from '#web/kit/format.ts';
import { CheckLine, EnglishNote } from './check-line.tsx';
import { RequestButton, RunButton, Ticks } from './parts.tsx';
import { Fold, Rich, Say } from './rich.tsx';
import { testedNumber, useSetup } from './setup-context.ts';
import { useUnchanged } from './use-unchanged.ts';

/** How long the status of a test text may stay the same before the page offers to run the shortcut. */
const stillAfterMs = 60_000;

/** How long the page may stay visible during a lock test before it asks to lock the iPhone. */
const notLockedAfterMs = 20_000;

/** Sends the test text, and shows its status. */
export function TestText(): ReactNode {
  const { texts, state, connection } = useSetup();
  const { to, count, error, error_code } = state.text;
  const sentTo = to === null ? '' : formatPhoneNumber(to);
  const [typed, setTyped] = useState(sentTo);
  const check = state.checks.find(({ name }) => name === 'text');
  const kind = { done: 'sent', busy: check?.reason ?? 'queued', failed: 'failed', open: '' } as const;
  const isStill = useUnchanged(
    check?.state === 'busy' ? `${count} ${check.reason}` : undefined,
    stillAfterMs,
  );
  const text = texts.text[kind[check?.state ?? 'open'] as keyof typeof texts.text];
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        // A step does not close while the field has the focus.
        event.currentTarget.querySelector('input')?.blur();
        void connection.sendTest(typed, count);
      }}
    >
      <label className="grid gap-1 text-sm font-medium">
        {texts.secondNumber}
        <input
          type="tel"
          required
          autoComplete="tel"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          className="h-12 rounded-lg border border-line-strong bg-surface px-3 text-base font-normal"
        />
      </label>
      <RequestButton request="test-text" type="submit">
        {texts.buttons.sendTest}
      </RequestButton>
      <div aria-live="polite">
        {check && text && (
          <CheckLine state={check.state} title={<Rich text={text} values={{ to: sentTo }} />}>
            {check.state === 'failed' &&
              (error_code === 'device_timeout' ? (
                <Say text={texts.text.device_timeout} />
              ) : (
                <EnglishNote text={error} />
              ))}
          </CheckLine>
        )}
        {isStill && <Say text={texts.text.still} className="my-2" />}
        {isStill && <RunButton />}
      </div>
    </form>
  );
}

/** A question whether the test text arrived, once it was sent. */
export function Arrived(): ReactNode {
  const { texts, state } = useSetup();
  const isSent = state.checks.some((check) => check.name === 'text' && check.state === 'done');
  return (
    isSent && (
      <>
        <Ticks names={['arrived']} />
        <Say text={texts.text.notThere} className="text-sm text-quiet" />
      </>
    )
  );
}

/** Starts the lock test. */
export function LockButton(): ReactNode {
  const { texts, state, connection } = useSetup();
  const isRunning = state.checks.some((check) => check.name === 'locked' && check.state === 'busy');
  return (
    <RequestButton request="lock-test" disabled={isRunning} onClick={() => void connection.startLockTest()}>
      {texts.buttons.lockNow}
    </RequestButton>
  );
}

/** The results of the lock test so far, and the time to unlock the iPhone. */
export function LockResult(): ReactNode {
  const { texts, state, locale } = useSetup();
  const { unlock_at, error } = state.lock;
  const time = unlock_at && timeOfDay(unlock_at, clockTimeFor(locale));
  const [locked, reply] = (['locked', 'locked_reply'] as const).map((name) =>
    state.checks.find((check) => check.name === name),
  );
  const isNotLocked = useUnchanged(locked?.state === 'busy' ? 'busy' : undefined, notLockedAfterMs);
  const why =
    texts.lock[locked?.reason as Exclude<keyof typeof texts.lock, 'until' | 'no_reply'>] ??
    texts.lock.text_late;
  return (
    <div aria-live="polite" className="grid gap-2">
      {isNotLocked && <Say text={texts.lock.not_locked} className="font-semibold text-warn-ink" />}
      {time && <p className="text-lg font-semibold">{texts.lock.until({ time })}</p>}
      <CheckLine state={locked?.state ?? 'open'} title={texts.checks.locked}>
        {locked?.state === 'failed' && <Say text={why} />}
        {locked?.state === 'failed' && <EnglishNote text={error} />}
      </CheckLine>
      <CheckLine state={reply?.state ?? 'open'} title={texts.checks.locked_reply}>
        {reply?.state === 'failed' && <Say text={texts.lock.no_reply} values={{ to: testedNumber(state) }} />}
      </CheckLine>
    </div>
  );
}

/** The replies to send to the number, each with its circle, and help for the first one that has not come in. */
export function Replies(): ReactNode {
  const { texts, state, form } = useSetup();
  const needed = state.replies.filter(({ set }) => set === 'needed');
  const missing = needed.find(({ passed }) => !passed);
  const hint = form === 26 ? texts.replies.hint26 : texts.replies.hint27;
  const contains = missing?.contains.trim() || texts.replies.space;
  return (
    <div aria-live="polite" className="grid gap-1.5">
      {needed.map((reply) => (
        <ReplyLine key={reply.name} reply={reply}>
          <b>{reply.reply}</b>
        </ReplyLine>
      ))}
      {missing && (
        <Say text={hint} values={{ reply: missing.reply, contains }} className="text-sm text-quiet" />
      )}
    </div>
  );
}

/** Further automations, for other languages and for texts that ask for a letter or a digit. */
export function MoreReplies(): ReactNode {
  const { texts, state, locale } = useSetup();
  const further = state.replies.filter(({ set }) => set !== 'needed');
  return (
    <Fold title={texts.replies.more} isOpen={!locale.startsWith('en')}>
      <Say text={texts.replies.moreHow} className="my-2" />
      {further.map((reply) => (
        <ReplyLine key={reply.name} reply={reply}>
          <Rich text={texts.replies.moreLine} values={{ contains: reply.contains, reply: reply.reply }} />
        </ReplyLine>
      ))}
    </Fold>
  );
}

interface ReplyLineProps {
  readonly reply: SetupReply;
  readonly children: ReactNode;
}

function ReplyLine({ reply: { passed }, children }: ReplyLineProps): ReactNode {
  const { cameIn, waiting } = useSetup().texts.replies;
  const title = (
    <>
      {children} {passed ? cameIn : waiting}
    </>
  );
  return <CheckLine state={passed ? 'done' : 'open'} title={title} />;
}
