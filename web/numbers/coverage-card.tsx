import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import type { InboundCoverage } from '#contract/number.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { coverageText } from './number-texts.ts';
import { texts } from './texts.ts';

/** Replies to be texted in a test. Each one shows that one automation works. */
const testReplies: Readonly<Record<InboundCoverage, readonly string[]>> = {
  unknown: ['7 pm', 'Seen', 'No', 'Thanks', 'Hi', 'Plus', 'Why'],
  words: ['Seen', 'No', 'Thanks', 'Hi', 'Plus', 'Why'],
  full: [],
};

/** Shows which kinds of received texts arrive, as far as tests have shown, and how to test the other kinds. */
export function CoverageCard({
  number,
  onSetup,
}: {
  readonly number: HomeNumber;
  readonly onSetup: (() => void) | undefined;
}): ReactNode {
  const administrators = useAdministratorNames();
  const { text, tone, sentence } = coverageText(number);
  const replies = testReplies[number.inbound_coverage];
  return (
    <Card id="receiving" title={texts.receiving.title} actions={<Badge tone={tone}>{text}</Badge>}>
      <p>{sentence}</p>
      {replies.length > 0 && (
        <div className="mt-3 flex flex-col gap-2.5 text-quiet">
          <p>{texts.receiving.how}</p>
          <ul aria-label={texts.receiving.replies} className="flex flex-wrap gap-1.5">
            {replies.map((reply) => (
              <li
                key={reply}
                className="rounded-full border border-line bg-sunken px-2.5 py-0.5 font-medium text-ink"
              >
                {reply}
              </li>
            ))}
          </ul>
          <p>{texts.receiving.then}</p>
          {onSetup ? (
            <Button size="small" className="self-start" onClick={onSetup}>
              {texts.receiving.onSetupPage}
            </Button>
          ) : (
            <p>{texts.receiving.ask({ administrators })}</p>
          )}
        </div>
      )}
    </Card>
  );
}
