import type { ReactNode } from 'react';
import { isUnlimited } from '#contract/plan-texts.ts';
import type { Usage } from '#contract/usage.ts';
import { Card } from '#web/kit/card.tsx';
import { amount, utcDay } from '#web/kit/format.ts';
import { Time } from '#web/kit/text.tsx';

/** Explains the monthly limit: refused sends, the reset, and the notices that were mailed. */
export function LimitRules({ usage }: { readonly usage: Usage }): ReactNode {
  const { monthly_message_limit: limit, resets_at, notices } = usage;
  if (isUnlimited(limit)) {
    return (
      <Card title="What happens at the limit">
        <p className="text-quiet">This plan has no limit of messages: no send is refused for it.</p>
      </Card>
    );
  }
  return (
    <Card title="What happens at the limit">
      <ul className="flex list-disc flex-col gap-2 pl-4 text-quiet marker:text-faint">
        <li>
          After {amount(limit)} sent messages in a month, further sends are refused. Messages that were
          accepted before are still sent.
        </li>
        <li>
          Messages that you receive do not count and always arrive. A simulated iPhone counts neither as a
          number nor with its messages.
        </li>
        <li>
          Counting begins anew on <b className="font-medium text-ink">{utcDay(resets_at)}</b>, at 0:00 UTC.
        </li>
        <li>Owners and admins are told at 80 % and at 100 %.</li>
        {notices.map(({ percent, at }) => (
          <li key={percent} className="text-ink">
            Owners and admins were told of {percent} % <Time at={at} />.
          </li>
        ))}
      </ul>
    </Card>
  );
}
