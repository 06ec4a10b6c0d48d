import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessagesSquare, RotateCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { MessageDetail } from '#contract/message.ts';
import type { Timeline } from '#contract/timeline.ts';
import { queryClient } from '#web/api/query-client.ts';
import { sendMessage } from '#web/conversations/conversation-queries.ts';
import { newIdempotencyKey } from '#web/conversations/idempotency-key.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button, buttonStyle } from '#web/kit/button.tsx';
import { CopyButton } from '#web/kit/copy.tsx';
import { Drawer } from '#web/kit/dialog.tsx';
import { ErrorNote, Note } from '#web/kit/error-note.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { Handle } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useNumberNames } from '#web/numbers/number-name.ts';
import { useTeam } from '#web/shell/session.ts';
import { cancelMessage, timelineQuery } from './message-queries.ts';
import { statusTones } from './message-statuses.ts';
import { possibleRepeatText, statusTexts, waitingSentence } from './status-texts.ts';
import { texts } from './texts.ts';
import { TimelineEvents } from './timeline-events.tsx';
import { TimelineSteps } from './timeline-steps.tsx';

const { details } = texts;

/** The details of a message: content, status, steps, and events with their deliveries. */
export function MessageDrawer({
  id,
  onClose,
}: {
  readonly id: string | undefined;
  readonly onClose: () => void;
}): ReactNode {
  const team = useTeam();
  const [shownId, setShownId] = useState(id);
  // The drawer keeps its content while it slides out.
  if (id !== undefined && id !== shownId) setShownId(id);
  const timeline = useQuery({ ...timelineQuery(team.id, shownId ?? ''), enabled: id !== undefined });
  return (
    <Drawer isOpen={id !== undefined} onClose={onClose} title={details.title}>
      <Loaded query={timeline}>{(data) => <Details timeline={data} />}</Loaded>
    </Drawer>
  );
}

/** A message has no handle if its contact was erased or its sender is unknown. */
function Contact({ handle, name }: { readonly handle: string; readonly name: string | null }): ReactNode {
  return handle === '' ? details.unknownContact : (name ?? <Handle value={handle} />);
}

function Details({ timeline }: { readonly timeline: Timeline }): ReactNode {
  const { message, name, sender, steps, events } = timeline;
  const isInbound = message.direction === 'inbound';
  const nameOf = useNumberNames();
  const ownName = <bdi className="tabular-nums">{nameOf(isInbound ? message.to : message.from)}</bdi>;
  return (
    <div className="flex flex-col gap-6">
      <section className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <p className="text-quiet">
            {isInbound
              ? details.fromTo({ from: <Contact handle={message.from} name={name} />, to: ownName })
              : details.fromTo({ from: ownName, to: <Contact handle={message.to} name={name} /> })}
          </p>
          <Badge tone={statusTones[message.status]} hasDot>
            {statusTexts[message.status]}
          </Badge>
        </div>
        {message.content !== '' && (
          <p className="rounded-xl bg-sunken px-4 py-3 leading-relaxed whitespace-pre-wrap">
            {message.content}
          </p>
        )}
        {message.media_url !== null && (
          <a
            href={message.media_url}
            target="_blank"
            rel="noreferrer"
            className="break-all text-accent-ink underline"
          >
            {message.media_url}
          </a>
        )}
        {sender && (
          <p className="text-quiet">
            {details[sender.kind === 'key' ? 'byKey' : 'by']({
              name: <b className="font-medium text-ink">{sender.name}</b>,
            })}
          </p>
        )}
        <Standing timeline={timeline} />
        <div className="flex flex-wrap gap-2">
          <ConversationLink message={message} isInbound={isInbound} />
          <CopyButton text={message.id} label={details.copyId} />
          {message.status === 'queued' && <CancelButton message={message} />}
          {message.status === 'failed' && !message.may_have_been_sent && (
            <SendAgainButton message={message} />
          )}
        </div>
      </section>
      <section>
        <h3 className="mb-3 font-semibold">{details.timeline}</h3>
        <TimelineSteps steps={steps} />
      </section>
      {events.length > 0 && (
        <section>
          <h3 className="mb-3 font-semibold">{details.events}</h3>
          <TimelineEvents events={events} />
        </section>
      )}
    </div>
  );
}

/**
 * The reason why a message waits or failed, with advice. For a sent message, it explains whether a delivery report can
 * come; for a received one, why it may be a repeat.
 */
function Standing({ timeline }: { readonly timeline: Timeline }): ReactNode {
  const { message, reports_delivery } = timeline;
  if (message.status === 'queued' && message.waiting_reason !== null) {
    return <Note tone="warn">{waitingSentence(message.waiting_reason, message.expected_at)}</Note>;
  }
  if (message.status === 'sent' && reports_delivery === false) {
    return <p className="text-quiet">{details.sentIsLast}</p>;
  }
  if (message.possible_repeat) {
    return (
      <p className="text-quiet">
        <b className="font-medium text-ink">{details.mayBeRepeat}</b> {possibleRepeatText}
      </p>
    );
  }
  if (message.status !== 'failed') return null;
  return <Note tone="bad">{message.error_message}</Note>;
}

function ConversationLink({
  message,
  isInbound,
}: {
  readonly message: MessageDetail;
  readonly isInbound: boolean;
}) {
  const team = useTeam();
  const [phoneNumber, contact] = isInbound ? [message.to, message.from] : [message.from, message.to];
  // A message of an unknown sender belongs to no conversation.
  if (contact === '') return null;
  return (
    <Link
      to="/teams/$teamId/conversations/$phoneNumber/$contact"
      params={{ teamId: team.id, phoneNumber, contact }}
      className={buttonStyle({ size: 'small' })}
    >
      <MessagesSquare /> {details.openConversation}
    </Link>
  );
}

/** Sends a failed message as a new one, for messages that cannot have arrived. */
function SendAgainButton({ message }: { readonly message: MessageDetail }): ReactNode {
  const team = useTeam();
  // With one key for all tries, a try after a lost answer sends nothing twice.
  const [idempotencyKey] = useState(newIdempotencyKey);
  const { from, to, content, media_url } = message;
  const sending = useMutation({
    mutationFn: () => sendMessage(team.id, { from, to, content, media_url }, idempotencyKey),
    onSuccess: () => notify(details.sentAgain, details.sentAgainAbout),
  });
  if (!team.can('messages:send') || (content === '' && media_url === null)) return null;
  return (
    <>
      <Button
        size="small"
        isBusy={sending.isPending}
        disabled={sending.isSuccess}
        onClick={() => sending.mutate()}
      >
        <RotateCw /> {details.sendAgain}
      </Button>
      {sending.error && <ErrorNote error={sending.error} />}
    </>
  );
}

function CancelButton({ message }: { readonly message: MessageDetail }): ReactNode {
  const team = useTeam();
  const cancelling = useMutation({
    mutationFn: () => cancelMessage(team.id, message.id),
    onSettled: () => queryClient.invalidateQueries({ queryKey: [team.id, 'message'] }),
  });
  if (!team.can('messages:send')) return null;
  return (
    <>
      <Button
        size="small"
        look="dangerQuiet"
        isBusy={cancelling.isPending}
        onClick={() => cancelling.mutate()}
      >
        {details.cancel}
      </Button>
      {cancelling.error && <ErrorNote error={cancelling.error} />}
    </>
  );
}
