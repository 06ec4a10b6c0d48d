import { ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import { basePath } from '#web/api/base-path.ts';
import { Button } from '#web/kit/button.tsx';
import { Card, cardRow } from '#web/kit/card.tsx';
import { Code } from '#web/kit/text.tsx';
import { useAdministratorNames } from '#web/team/administrators.ts';
import { isOwnAddress } from './own-address.ts';

interface Check {
  readonly title: string;
  readonly detail: ReactNode;
}

/** Checks for an offline iPhone. Frequent causes come first, and quick checks before long ones. */
const checks: readonly Check[] = [
  {
    title: 'It is switched on and on a charging cable',
    detail: 'Settings › Battery: Low Power Mode is off.',
  },
  {
    title: 'It reaches Ownline',
    detail: isOwnAddress(location.origin) ? (
      'The page that you look at has an address of the server alone, which shows nothing about the iPhone. Look at its Wi-Fi or mobile data.'
    ) : (
      <>
        Open <Code>{`${location.origin}${basePath}`}</Code> in Safari on the iPhone. If the page does not
        load, look at its Wi-Fi or mobile data.
      </>
    ),
  },
  {
    title: 'Ownline Outbox runs',
    detail: 'In Shortcuts, tap Ownline Outbox. It does not finish, and that is right: leave it running.',
  },
  {
    title: 'Both shortcuts may run while the iPhone is locked',
    detail:
      'It is so by itself. To look: in Shortcuts, hold your finger on each, then Edit, the i in a circle, Privacy, Allow Running When Locked. Do not stop one that runs.',
  },
  {
    title: 'The automations start it again',
    detail:
      'With iOS 27, tap the three dots on Ownline Outbox in Shortcuts: its automations are on. With an older iOS, tap Automation: Charger, Wi-Fi and a time of day run it, and each says Run Immediately. Check this after every update of iOS.',
  },
  {
    title: 'iMessage is on',
    detail: 'Settings › Apps › Messages (before iOS 18: Settings › Messages).',
  },
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
              {isOffline ? 'Check these on the iPhone' : 'When the iPhone goes offline'}
            </span>
            <span className="text-quiet">
              {isOffline
                ? 'From the top. The page turns green by itself once the iPhone asks for messages again.'
                : 'The settings of iOS to check.'}
            </span>
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
          <p className="text-quiet">The iPhone is new, lost or was reset?</p>
          {onSetup ? (
            <Button size="small" onClick={onSetup}>
              Connect another iPhone
            </Button>
          ) : (
            <p className="text-quiet">Ask {administrators} to connect another one.</p>
          )}
        </div>
      </details>
    </Card>
  );
}
