import { type KeyboardEvent, type ReactNode, useState } from 'react';
import type { Usage } from '#contract/usage.ts';
import { amount, dayWithWeekday } from '#web/kit/format.ts';
import { daysIn } from './months.ts';
import { texts } from './texts.ts';

type Day = Usage['days'][number];

const heightPx = 160;

/** The end of the scale: a round number, not below the highest bar, whose half is a whole number. */
function scaleEnd(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)));
  const end = [1, 2, 4, 6, 8].map((factor) => factor * power).find((one) => one >= highest) ?? 10 * power;
  return Math.max(end, 2);
}

/**
 * A bar chart of the sent and received messages by day. Arrow keys, Home and End choose a day, as on a slider. A
 * sentence above the bars describes that day.
 */
export function MonthChart({
  month,
  days,
}: {
  readonly month: string;
  readonly days: readonly Day[];
}): ReactNode {
  const last = Math.max(days.length - 1, 0);
  const [chosen, setChosen] = useState(last);
  const [isFocused, setIsFocused] = useState(false);
  const [hovered, setHovered] = useState<number>();
  const shown = hovered ?? (isFocused ? chosen : undefined);
  const end = scaleEnd(Math.max(...days.map(({ sent, received }) => Math.max(sent, received)), 0));
  const slots = daysIn(month);
  const move = (event: KeyboardEvent) => {
    const target = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: last }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    setHovered(undefined);
    setChosen(Math.min(Math.max(target, 0), last));
  };
  return (
    <figure aria-label={texts.chart.label}>
      <figcaption className="flex min-h-10 flex-wrap items-center justify-between gap-x-4 gap-y-1 text-[0.8125rem]">
        <span className="text-quiet tabular-nums">
          {shown === undefined ? texts.chart.utc : wordsOf(days[shown])}
        </span>
        <span className="flex gap-4 text-quiet">
          <Key colour="bg-accent" text={texts.chart.sent} />
          <Key colour="bg-line-strong" text={texts.chart.received} />
        </span>
      </figcaption>
      <div className="mt-2 flex">
        <div
          aria-hidden="true"
          className="flex w-11 shrink-0 flex-col justify-between text-xs leading-none text-quiet tabular-nums"
          style={{ height: heightPx }}
        >
          {[end, end / 2, 0].map((value) => (
            <span key={value}>{amount(value)}</span>
          ))}
        </div>
        <div
          role="slider"
          tabIndex={0}
          aria-label={texts.chart.day}
          aria-valuemin={1}
          aria-valuemax={last + 1}
          aria-valuenow={chosen + 1}
          aria-valuetext={wordsOf(days[chosen])}
          className="min-w-0 flex-1 rounded-sm"
          onFocus={() => setIsFocused(true)}
          onBlur={() => setIsFocused(false)}
          onKeyDown={move}
          onPointerLeave={() => setHovered(undefined)}
        >
          <svg aria-hidden="true" width="100%" height={heightPx} className="block">
            {[0.5, heightPx / 2, heightPx - 0.5].map((y) => (
              <line key={y} x1="0" x2="100%" y1={y} y2={y} className="stroke-line" />
            ))}
            {days.map((day, index) => (
              <g key={day.day} onPointerEnter={() => setHovered(index)}>
                <rect
                  x={`${(index / slots) * 100}%`}
                  width={`${100 / slots}%`}
                  height="100%"
                  rx="3"
                  className={index === shown ? 'fill-ink/8' : 'fill-transparent'}
                />
                <Bar
                  left={(index + 0.16) / slots}
                  of={slots}
                  share={day.sent / end}
                  className="fill-accent"
                />
                <Bar
                  left={(index + 0.52) / slots}
                  of={slots}
                  share={day.received / end}
                  className="fill-line-strong"
                />
              </g>
            ))}
          </svg>
        </div>
      </div>
      <div aria-hidden="true" className="relative mt-1.5 ml-11 h-4 text-xs text-quiet tabular-nums">
        {[1, 8, 15, 22, 29]
          .filter((day) => day <= slots)
          .map((day) => (
            <span
              key={day}
              className="absolute -translate-x-1/2 whitespace-nowrap"
              style={{ left: `${((day - 0.5) / slots) * 100}%` }}
            >
              {day}
            </span>
          ))}
      </div>
    </figure>
  );
}

/** Any amount above 0 gives a bar of at least 2 px, so that one message is visible beside a thousand. */
function Bar({
  left,
  of,
  share,
  className,
}: {
  readonly left: number;
  readonly of: number;
  readonly share: number;
  readonly className: string;
}): ReactNode {
  if (share === 0) return null;
  const height = Math.max(2, Math.round(share * heightPx));
  return (
    <rect
      x={`${left * 100}%`}
      width={`${32 / of}%`}
      y={heightPx - height}
      height={height}
      rx="1.5"
      className={className}
    />
  );
}

function Key({ colour, text }: { readonly colour: string; readonly text: string }): ReactNode {
  return (
    <span className="flex items-center gap-1.5">
      <span aria-hidden="true" className={`size-2.5 rounded-sm ${colour}`} />
      {text}
    </span>
  );
}

function wordsOf(day: Day | undefined): string {
  return day ? texts.chart.dayIs({ ...day, day: dayWithWeekday(day.day) }) : '';
}
