import type { ReactNode } from 'react';
import type { SetupCheck } from '#contract/setup.ts';
import { CheckTitle, kindOf } from './check-line.tsx';
import { RequestButton } from './parts.tsx';
import { Fold, Say } from './rich.tsx';
import { isAllDone, numberOf, useSetup } from './setup-context.ts';

const heading = 'text-2xl leading-tight font-semibold';

/** The page after this browser closed the link: the checks that are done, and how to do the others without the link. */
export function ClosedPage(): ReactNode {
  const { texts, state } = useSetup();
  const { closed } = texts;
  const done = state.checks.filter((check) => check.state === 'done');
  const left = state.checks.filter((check) => check.state !== 'done');
  const isConnected = done.some(({ name }) => name === 'poll');
  const connected = left.length === 0 ? closed.works : closed.almost;
  const outcome = isConnected ? connected({ number: numberOf(state) }) : closed.unfinished;
  const button = isConnected || state.had_phone ? closed.again : closed.show;
  return (
    <div className="mx-auto grid max-w-lg gap-4">
      <h1 className={heading}>{outcome}</h1>
      <Say text={isConnected ? `${closed.isClosed} ${closed.keep}` : closed.isClosed} />
      {state.address.problem === 'plain_http' && <p className="text-warn-ink">{closed.plainHttp}</p>}
      {isConnected && (
        <Checks title={closed.left} hint={closed.leftHow} checks={left} remedies={texts.remedies} />
      )}
      {left.length > 0 && <Say text={closed.newLink} values={{ button }} />}
      <Checks title={closed.checked} checks={isConnected ? done : []} />
      {isConnected && (
        <Say text={`${closed.sentMeans} ${closed.afterUpdate}`} className="text-sm text-quiet" />
      )}
    </div>
  );
}

interface ChecksProps {
  readonly title: string;
  readonly hint?: string;
  readonly checks: readonly SetupCheck[];
  /** How to do each of these without the link. */
  readonly remedies?: Readonly<Record<ReturnType<typeof kindOf>, string>>;
}

function Checks({ title, hint = '', checks, remedies }: ChecksProps): ReactNode {
  if (checks.length === 0) return null;
  return (
    <section className="my-3">
      <h2 className="text-lg font-semibold">{title}</h2>
      <p>{hint}</p>
      <ul className="list-disc pl-5">
        {checks.map(({ name }) => (
          <li key={name}>
            <CheckTitle name={name} />
            {remedies && <Say text={remedies[kindOf(name)]} className="text-quiet" />}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The page of a link that was closed or replaced, has expired, or never existed. */
export function OverPage(): ReactNode {
  const { over } = useSetup().texts;
  return (
    <div className="mx-auto grid max-w-lg gap-3">
      <h1 className={heading}>{over.title}</h1>
      <p>{over.why}</p>
      <Say text={over.done} />
      <Say text={over.notDone} />
    </div>
  );
}

/** All is done: the button that closes the link. */
export function AllDone(): ReactNode {
  const { texts, state, connection } = useSetup();
  if (!isAllDone(state)) return null;
  return (
    <section className="my-4 rounded-xl bg-good-tint p-4">
      <h2 className="text-lg font-semibold text-good-ink">{texts.end.done}</h2>
      <p className="mb-3">{texts.end.doneHow}</p>
      <RequestButton request="done" onClick={() => void connection.finish()}>
        {texts.buttons.finish}
      </RequestButton>
    </section>
  );
}

/** A closed box with the button that closes the link early, and a list of what is left. */
export function EndEarly(): ReactNode {
  const { texts, state, connection } = useSetup();
  if (isAllDone(state)) return null;
  const left = state.checks.filter((check) => check.state !== 'done');
  return (
    <Fold title={texts.end.early}>
      <Say text={texts.end.warning} />
      <Checks title={texts.end.left} checks={left} />
      <RequestButton request="done" look="dangerQuiet" onClick={() => void connection.finish()}>
        {texts.buttons.end}
      </RequestButton>
    </Fold>
  );
}
