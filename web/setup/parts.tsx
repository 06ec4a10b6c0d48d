import { type ComponentProps, type ReactNode, useRef } from 'react';
import type { FileForm, SetupTick } from '#contract/setup.ts';
import { Button, buttonStyle } from '#web/kit/button.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { CopyButton, copyShown, writeToClipboard } from '#web/kit/copy.tsx';
import { CheckLine } from './check-line.tsx';
import { Rich, Say } from './rich.tsx';
import { forms, startTime, useSetup } from './setup-context.ts';

/** A button of the page: as wide as the phone, and high enough for a thumb. */
const wide = 'h-12 w-full text-base max-sm:h-12';

type LinkButtonProps = ComponentProps<'a'> & { readonly look?: 'primary' | 'second' };

/** A link that looks like a button. */
function LinkButton({ look = 'primary', ...rest }: LinkButtonProps): ReactNode {
  return <a {...rest} className={classNames(buttonStyle({ look }), wide)} />;
}

/** The requests that a person sends from the page. */
type Request = 'claim' | 'form' | 'ticks' | 'test-text' | 'lock-test' | 'done';

type RequestButtonProps = ComponentProps<typeof Button> & { readonly request: Request };

/** A button that sends a request, with the reason if it was refused. */
export function RequestButton({ request, ...rest }: RequestButtonProps): ReactNode {
  const { busy } = useSetup();
  return (
    <>
      <Button look="primary" className={wide} isBusy={busy === request} {...rest} />
      <RefusedNote request={request} />
    </>
  );
}

function RefusedNote({ request }: { readonly request: Request }): ReactNode {
  const { texts, refused } = useSetup();
  const words = refused?.reason && texts.refused[refused.reason];
  return (
    <div role="alert" className="empty:hidden">
      {refused?.path === request && (
        <p lang={words ? undefined : 'en'} className="mt-2 rounded-lg bg-bad-tint px-3 py-2 text-bad-ink">
          {words ?? refused.message}
        </p>
      )}
    </div>
  );
}

/** Which iOS the iPhone has, until a poll reports it: a question, or the assumed iOS with a button to correct it. */
export function FormQuestion(): ReactNode {
  const { texts, state, connection, form } = useSetup();
  if (state.phone) return null;
  const question = form === undefined ? 'ask' : form === 27 ? 'isNew' : 'isOld';
  return (
    <div className="text-sm text-quiet">
      <Say text={texts.form[question]} />
      <div className="mt-1 flex flex-wrap items-center gap-2">
        {form && texts.form.change}
        {forms
          .filter((one) => one !== form)
          .map((one) => (
            <Button key={one} size="small" onClick={() => void connection.chooseForm(one)}>
              {texts.form[one]}
            </Button>
          ))}
      </div>
      <RefusedNote request="form" />
    </div>
  );
}

/** Starts the setup: claims the link. */
export function Start(): ReactNode {
  const { texts, state, connection, form } = useSetup();
  return (
    <div className="grid gap-3">
      <FormQuestion />
      {state.code === null && (
        <RequestButton
          request="claim"
          disabled={form === undefined}
          onClick={() => form && void connection.claim(form)}
        >
          {texts.buttons.start}
        </RequestButton>
      )}
    </div>
  );
}

const names = { inbound: 'Ownline Inbound', outbox: 'Ownline Outbox' } as const;

/** Opens the file or iCloud link of one shortcut. The same tap copies the setup code, for which the iPhone asks. */
export function InstallButton({ name }: { readonly name: keyof typeof names }): ReactNode {
  const { texts, state, connection, form = 27 } = useSetup();
  const frame = useRef<HTMLDivElement>(null);
  const way = state.install[form];
  const file = `${connection.path}/files/${form}/${encodeURIComponent(`${names[name]}.shortcut`)}`;
  if (way.kind === 'signed' && !way.ready) return <PrepareButton form={form} />;
  const copy = async () => {
    if (state.code === null || way.kind === 'signed') return;
    if (!(await writeToClipboard(state.code))) copyShown(state.code, null, frame.current);
  };
  return (
    <div ref={frame}>
      <LinkButton href={way.kind === 'links' ? way[name] : file} onClick={() => void copy()}>
        {texts.buttons.get({ name: names[name] })}
      </LinkButton>
    </div>
  );
}

/** Requests the signed files if signing failed before, or the files are for another iOS than at the start. */
function PrepareButton({ form }: { readonly form: FileForm }): ReactNode {
  const { texts, busy, connection } = useSetup();
  return (
    <RequestButton request="claim" onClick={() => void connection.claim(form)}>
      {busy === 'claim' ? texts.buttons.preparing : texts.buttons.prepare}
    </RequestButton>
  );
}

/** Copies the setup code once more. */
export function SetupCodeButton(): ReactNode {
  const { texts, state } = useSetup();
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-quiet">
      <p className="grow basis-40">{texts.buttons.codeHint}</p>
      <CopyButton text={state.code ?? ''} label={texts.buttons.code} words={texts} />
    </div>
  );
}

/** The list from which a technician builds both shortcuts. */
export function ByHandLink({ look }: { readonly look?: 'second' | undefined }): ReactNode {
  const { texts, connection, form = 27 } = useSetup();
  return (
    <LinkButton look={look} href={`${connection.path}/by-hand?ios=${form}`}>
      {texts.buttons.list}
    </LinkButton>
  );
}

export function NewAutomation(): ReactNode {
  return <LinkButton href="shortcuts://create-automation">{useSetup().texts.buttons.automation}</LinkButton>;
}

/** Runs the shortcut that asks for messages. */
export function RunButton(): ReactNode {
  return (
    <LinkButton look="second" href="shortcuts://run-shortcut?name=Ownline%20Outbox">
      {useSetup().texts.buttons.run}
    </LinkButton>
  );
}

/** Whether this link's iPhone has connected. While it has not, a button runs the shortcut. */
export function PollLine(): ReactNode {
  const { texts, state } = useSetup();
  const check = state.checks.find(({ name }) => name === 'poll');
  const text = texts.poll[check?.reason === 'old_shortcut' ? 'old_shortcut' : 'waiting'];
  return (
    <div aria-live="polite" className="grid gap-2">
      {state.phone ? (
        <CheckLine
          state="done"
          title={texts.poll.connected({ name: <bdi>{state.phone.name}</bdi>, ios: state.phone.ios })}
        >
          {check?.reason === 'other_form' && <Say text={texts.poll.other_form} className="text-warn-ink" />}
        </CheckLine>
      ) : (
        <>
          <CheckLine state={check?.state ?? 'open'} title={<Rich text={text} />} />
          <Say text={texts.poll.again} className="text-sm text-quiet" />
          <RunButton />
        </>
      )}
    </div>
  );
}

/** Checkboxes for what only the person can see. */
export function Ticks({ names }: { readonly names: readonly SetupTick[] }): ReactNode {
  const { texts, state, connection, locale } = useSetup();
  return (
    <>
      {names.map((name) => (
        <label key={name} className="flex min-h-12 items-center gap-3">
          <input
            type="checkbox"
            className="size-6 shrink-0 accent-(--accent)"
            checked={state.checks.some((check) => check.name === name && check.state === 'done')}
            onChange={({ target }) => void connection.tick(name, target.checked)}
          />
          <span>
            <Rich text={texts.ticks[name]} values={startTime(locale)} />
          </span>
        </label>
      ))}
      <RefusedNote request="ticks" />
    </>
  );
}
