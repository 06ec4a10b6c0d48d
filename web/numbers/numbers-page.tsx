import { useQuery } from '@tanstack/react-query';
import { Smartphone } from 'lucide-react';
import type { ReactNode } from 'react';
import { Card } from '#web/kit/card.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState, Page } from '#web/kit/page.tsx';
import { Handle } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { numbersQuery } from './number-queries.ts';

export function NumbersPage(): ReactNode {
  const team = useTeam();
  const numbers = useQuery(numbersQuery(team.id));
  return (
    <Page title="Numbers" description="The iPhones that send and receive for this team.">
      <Card isFlush>
        <Loaded query={numbers}>
          {({ numbers }) =>
            numbers.length === 0 ? (
              <EmptyState icon={<Smartphone />} title="No iPhone is connected yet" />
            ) : (
              numbers.map((number) => (
                <div key={number.id} className="p-4">
                  <Handle value={number.phone_number} />
                </div>
              ))
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}
