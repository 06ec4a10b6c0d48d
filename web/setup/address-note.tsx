import type { ReactNode } from 'react';
import type { FileForm } from '#contract/setup.ts';
import { surface } from '#web/kit/card.tsx';
import { CopyButton, CopyRow } from '#web/kit/copy.tsx';
import { ByHandLink, FormQuestion } from './parts.tsx';
import { Fold, Say } from './rich.tsx';
import { forms, numberOf, useSetup } from './setup-context.ts';

type MessageText = (values: Readonly<Record<'number' | 'setting' | 'settings', string>>) => string;

/** A message for the operator, to copy. It has no secret in it. */
function OperatorMessage({ text }: { readonly text: MessageText }): ReactNode {
  const { texts, state } = useSetup();
  const number = numberOf(state);
  const settings = useMissingForms().flatMap((form) =>
    ['OUTBOX', 'INBOUND'].map((name) => `SHORTCUT_${name}_${form === 26 ? '' : '27_'}URL`),
  );
  const values = { number, setting: state.address.setting, settings: settings.join(', ') };
  const message = text(values);
  return (
    <>
      <blockquote className="my-2 rounded-lg border border-line bg-surface px-3 py-2">{message}</blockquote>
      <CopyButton text={message} label={texts.address.copyMessage} words={texts} />
    </>
  );
}

/**
 * The problem of the server's address, with a message to the operator. @param isHopeless the page shows nothing else
 */
export function AddressNote({ isHopeless }: { readonly isHopeless: boolean }): ReactNode {
  const { state, texts } = useSetup();
  const { address } = texts;
  const { problem } = state.address;
  if (problem === null) return null;
  const command = `ownline phone simulate --setup-url ${state.url}`;
  return (
    <section className={`my-4 rounded-xl p-4 ${problem === 'loopback' ? 'bg-bad-tint' : 'bg-warn-tint'}`}>
      <Say text={`${address[problem]} ${address.ask}`} />
      <OperatorMessage text={address.message[problem]} />
      <Fold title={address.developers}>
        <Say text={address.now} values={{ url: state.address.url }} />
        {problem === 'loopback' && (
          <>
            <p className="mt-2">{address.simulate}</p>
            <CopyRow value={command} what={address.simulate} words={texts} />
          </>
        )}
        {isHopeless && (
          <p className="mt-3 flex flex-wrap gap-4 text-accent-ink underline">
            <a href="?view=computer">{address.progress}</a>
            <a href="?view=phone">{address.steps}</a>
          </p>
        )}
      </Fold>
    </section>
  );
}

/** A box for the steps. It is closed if a new link has to come first, unless the person has begun. */
export function AddressBox({ children }: { readonly children: ReactNode }): ReactNode {
  const { texts, state } = useSetup();
  const isToChange = state.address.problem === 'private' || state.address.problem === 'plain_http';
  return isToChange && state.code === null ? <Fold title={texts.address.anyway}>{children}</Fold> : children;
}

/** The forms that this iPhone may have, but for which no button adds the shortcuts; none once the link was claimed. */
function useMissingForms(): readonly FileForm[] {
  const { state, form } = useSetup();
  const possible = forms.filter((one) => (form ?? one) === one && state.code === null);
  return possible.filter((one) => state.install[one].kind === 'by_hand');
}

/** True if no button adds the shortcuts, whichever form the iPhone needs, and no technician has begun to build them. */
export function useIsByHand(): boolean {
  const { form } = useSetup();
  return useMissingForms().length === (form ? 1 : forms.length);
}

/** Names the iOS for which no button adds the shortcuts, while the iPhone's iOS is not known. */
export function MissingFormNote(): ReactNode {
  const { texts } = useSetup();
  const [missing] = useMissingForms();
  return missing && <p className="mt-2">{texts.byHand.only({ ios: texts.form[missing] })}</p>;
}

/** Says that no button adds the shortcuts: the operator has to publish them, or a technician builds them. */
export function ByHandNote(): ReactNode {
  const { texts, state, form } = useSetup();
  const { byHand } = texts;
  const way = state.install[form ?? 27];
  return (
    <section className={`mt-4 p-4 ${surface}`}>
      <h2 className="text-lg font-semibold">{byHand.title}</h2>
      <p className="mt-1">{way.kind === 'by_hand' && way.failed ? byHand.failed : byHand.why}</p>
      <OperatorMessage text={byHand.message} />
      <div className="mt-4 empty:hidden">{form && <FormQuestion />}</div>
      <Fold title={byHand.technician}>
        <p className="mb-2">{byHand.technicianHow}</p>
        <ByHandLink look="second" />
      </Fold>
    </section>
  );
}
