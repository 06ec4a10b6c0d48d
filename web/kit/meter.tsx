import { Meter } from '@base-ui/react/meter';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { amount } from './format.ts';
import { texts } from './texts.ts';

/** A bar for the used part of a limit. It warns from 80 %. */
export function UsageMeter({
  label,
  used,
  limit,
  isAlarming = false,
}: {
  readonly label: string;
  readonly used: number;
  /** The limit; undefined for none. */
  readonly limit: number | undefined;
  /** Colours a full bar red. It is for limits that stop work when they are reached, such as messages, but not seats. */
  readonly isAlarming?: boolean;
}): ReactNode {
  if (limit === undefined)
    return (
      <Facts label={<span>{label}</span>}>{texts.usage.unlimited({ used: <Used count={used} /> })}</Facts>
    );
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  const colour = share >= 1 && isAlarming ? 'bg-bad' : share >= 0.8 ? 'bg-warn' : 'bg-accent';
  return (
    <Meter.Root value={share * 100} getAriaValueText={() => texts.usage.of({ used, limit })}>
      <Facts label={<Meter.Label>{label}</Meter.Label>}>
        {texts.usage.of({ used: <Used count={used} />, limit })}
      </Facts>
      <Meter.Track className="mt-2 h-2 overflow-hidden rounded-full bg-sunken">
        <Meter.Indicator className={classNames('h-full rounded-full', colour)} />
      </Meter.Track>
    </Meter.Root>
  );
}

function Facts({ label, children }: { readonly label: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="flex justify-between gap-3">
      {label}
      <span className="text-quiet tabular-nums">{children}</span>
    </div>
  );
}

const Used = ({ count }: { readonly count: number }) => (
  <b className="font-semibold text-ink">{amount(count)}</b>
);
