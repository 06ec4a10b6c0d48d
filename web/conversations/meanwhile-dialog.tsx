import type { ReactNode } from 'react';
import { Confirm } from '#web/kit/confirm.tsx';
import { Time } from '#web/kit/time.tsx';
import type { Outgoing } from './composition-store.ts';
import { texts as conversationTexts } from './texts.ts';

const { meanwhile: texts } = conversationTexts;

/** Asks whether a reply is sent although a colleague answered meanwhile. The reply is kept in either case. */
export function MeanwhileDialog({
  outgoing,
  onSend,
  onKeep,
}: {
  /** The reply that was refused; undefined if none was. */
  readonly outgoing: Outgoing | undefined;
  readonly onSend: () => void;
  readonly onKeep: () => void;
}): ReactNode {
  const answer = outgoing?.meanwhile;
  return (
    <Confirm
      isOpen={outgoing !== undefined}
      onClose={onKeep}
      title={answer?.sender ? texts.title({ name: answer.sender.name }) : texts.titleSending}
      action={texts.sendAnyway}
      keep={texts.keep}
      isDangerous={false}
      onConfirm={async () => onSend()}
    >
      <p>{texts.why}</p>
      {answer && (
        <>
          <p>{texts.at({ at: <Time at={answer.created_at} /> })}</p>
          <Quote text={answer.content} />
        </>
      )}
      <p>{texts.yours}</p>
      <Quote text={outgoing?.message.text ?? ''} />
    </Confirm>
  );
}

const Quote = ({ text }: { readonly text: string }) => (
  <blockquote
    dir="auto"
    className="line-clamp-6 border-l-2 border-line-strong pl-3 whitespace-pre-wrap text-ink [overflow-wrap:anywhere]"
  >
    {text}
  </blockquote>
);
