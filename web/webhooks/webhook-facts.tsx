import type { ReactNode } from 'react';
import type { Webhook } from '#contract/webhook.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Card } from '#web/kit/card.tsx';
import { Code } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { useNumberNames } from '#web/numbers/number-name.ts';
import { texts } from './texts.ts';

export function WebhookFacts({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { events, phone_number: number, last_triggered_at: lastAt, created_at: createdAt, id } = webhook;
  const nameOf = useNumberNames();
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-x-8 gap-y-4 lg:grid-cols-[repeat(3,1fr)_auto]">
        <Fact name={texts.events} className="col-span-2 lg:col-span-4">
          <span className="flex flex-wrap gap-1.5">
            {events.map((type) => (
              <Badge key={type}>{type}</Badge>
            ))}
          </span>
        </Fact>
        <Fact name={texts.number}>{number === null ? texts.allNumbers : <bdi>{nameOf(number)}</bdi>}</Fact>
        <Fact name={texts.facts.lastAttempt}>
          {lastAt === null ? texts.facts.noneYet : <Time at={lastAt} />}
        </Fact>
        <Fact name={texts.facts.created}>
          <Time at={createdAt} />
        </Fact>
        <Fact name={texts.facts.id} className="max-sm:col-span-2">
          <Code>{id}</Code>
        </Fact>
      </dl>
    </Card>
  );
}

function Fact({
  name,
  className,
  children,
}: {
  readonly name: string;
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className={className}>
      <dt className="mb-1 text-xs text-quiet">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
