import { ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import { basePath } from '#web/api/base-path.ts';
import { Button } from '#web/kit/button.tsx';
import { Card, cardRow } from '#web/kit/card.tsx';
import { Code } from '#web/kit/text.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { isOwnAddress } from './own-address.ts';
import { texts } from './texts.ts';

const { power, reach, runs, locked, automations, iMessage } = texts.doctor.checks;

interface Check {
  readonly title: string;
  readonly detail: ReactNode;
}

/** Checks for an offline iPhone. Frequent causes come first, and quick checks before long ones. */
const checks: readonly Check[] = [
  power,
  {
    title: reach.title,
    detail: isOwnAddress(location.origin)
      ? reach.ownAddress
      : reach.open({ address: <Code>{`${location.origin}${basePath}`}</Code> }),
  },
  runs,
  locked,
  automations,
  iMessage,
];

/** Settings of the iPhone to check. The card is open while the number is offline. */
export function DoctorCard({
  number,
  onSetup,
}: {
  readonly number: HomeNumber;
  readonly onSetup: (() => void) | undefined;
}): ReactNode {
  const administrators = useAdministratorNames();
  const isOffline = number.state === 'offline';
  return (
    <Card isFlush>
      <details id="checks" key={String(isOffline)} open={isOffline} className="group">
        <summary className="flex list-none items-center justify-between gap-3 rounded-xl px-5 py-4 max-sm:px-4 [&::-webkit-details-marker]:hidden">
          <span>
            <span className="block text-[0.9375rem] font-semibold">
              {isOffline ? texts.doctor.titleOffline : texts.doctor.title}
            </span>
            <span className="text-quiet">{isOffline ? texts.doctor.aboutOffline : texts.doctor.about}</span>
          </span>
          <ChevronDown
            aria-hidden="true"
            className="size-4 shrink-0 text-quiet transition-transform group-open:rotate-180"
          />
        </summary>
        <ol className="border-t border-line">
          {checks.map(({ title, detail }, index) => (
            <li key={title} className={`flex gap-3 ${cardRow}`}>
              <span
                aria-hidden="true"
                className="grid size-6 shrink-0 place-items-center rounded-full bg-sunken text-xs font-semibold text-quiet"
              >
                {index + 1}
              </span>
              <div className="min-w-0">
                <p className="font-medium">{title}</p>
                <p className="text-quiet">{detail}</p>
              </div>
            </li>
          ))}
        </ol>
        <div className="flex flex-wrap items-center justify-between gap-3 border-t border-line px-5 py-3 max-sm:px-4">
          <p className="text-quiet">{texts.doctor.isNew}</p>
          {onSetup ? (
            <Button size="small" onClick={onSetup}>
              {texts.doctor.connectAnother}
            </Button>
          ) : (
            <p className="text-quiet">{texts.doctor.ask({ administrators })}</p>
          )}
        </div>
      </details>
    </Card>
  );
}
