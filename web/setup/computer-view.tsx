import type { ReactNode } from 'react';
import { setupMinutes } from '#contract/setup-minutes.ts';
import { surface } from '#web/kit/card.tsx';
import { CopyRow } from '#web/kit/copy.tsx';
import { QrCode } from '#web/kit/qr-code.tsx';
import { AddressBox, ByHandNote, MissingFormNote, useIsByHand } from './address-note.tsx';
import { CheckLine, CheckTitle, Circle } from './check-line.tsx';
import { AllDone, EndEarly } from './closed-page.tsx';
import { Fold } from './rich.tsx';
import { isStepDone, numberOf, stepsOf, useSetup } from './setup-context.ts';

const card = `px-5 py-4 ${surface}`;

/** The page on a computer: how to open it on the iPhone, and the progress there. */
export function ComputerView(): ReactNode {
  const { texts } = useSetup();
  const isByHand = useIsByHand();
  return (
    <>
      {!isByHand && <MissingFormNote />}
      <AllDone />
      <div className="mt-4 grid items-start gap-4 md:grid-cols-2">
        <div>
          <AddressBox>
            {isByHand && <ByHandNote />}
            {isByHand ? (
              <Fold title={texts.computer.scan}>
                <Scan />
              </Fold>
            ) : (
              <Scan />
            )}
          </AddressBox>
        </div>
        <Progress />
      </div>
      <EndEarly />
    </>
  );
}

/** The QR code and the address of the page. */
function Scan(): ReactNode {
  const { texts, state, form = 27 } = useSetup();
  const { computer } = texts;
  const number = numberOf(state);
  return (
    <section className={`${card} grid gap-3`}>
      <h2 className="text-lg font-semibold">{computer.scan}</h2>
      <p>{computer.scanHow({ number, minutes: setupMinutes[form] })}</p>
      <QrCode text={state.url} label={computer.qr} />
      <p className="text-sm text-quiet">{computer.send}</p>
      <CopyRow value={state.url} what={computer.addressName} words={texts} />
      <a href="?view=phone" className="text-accent-ink underline">
        {computer.isPhone}
      </a>
    </section>
  );
}

/** Each step with its checks. */
function Progress(): ReactNode {
  const { texts, state, form } = useSetup();
  const steps = stepsOf(form);
  const done = steps.filter((step) => isStepDone(state, step));
  return (
    <section className={card}>
      <h2 className="text-lg font-semibold">{texts.computer.follow}</h2>
      <p className="text-sm text-quiet">{texts.computer.followHow}</p>
      <p role="status" className="mt-2 font-medium">
        {texts.progress({ done: done.length, count: steps.length })}
      </p>
      <ol className="mt-3 grid gap-4">
        {steps.map((step, index) => (
          <li key={step.name} className="flex gap-2.5">
            <Circle state={done.includes(step) ? 'done' : 'open'} />
            <div className="grid min-w-0 gap-1">
              <b>{`${index + 1}. ${texts.steps[step.name]}`}</b>
              {state.checks
                .filter(({ name }) => step.checks.test(name))
                .map((check) => (
                  <CheckLine key={check.name} state={check.state} title={<CheckTitle name={check.name} />}>
                    {check.state === 'failed' && <p>{texts.computer.failed}</p>}
                  </CheckLine>
                ))}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
