import { ScrollText } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AuditPage as AuditAnswer, AuditEntry } from '#contract/audit.ts';
import { listQuery, useList } from '#web/api/lists.ts';
import { isOlderId } from '#web/api/loaded-list.ts';
import { readTeam } from '#web/api/team-requests.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Card, cardRow } from '#web/kit/card.tsx';
import { nowMs } from '#web/kit/clock.ts';
import { LoadMore } from '#web/kit/load-more.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { EmptyState } from '#web/kit/page.tsx';
import { dayOf } from '#web/kit/relative-time.ts';
import { Time } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { NoPermission } from '#web/team/no-permission.tsx';
import { TeamFrame } from '#web/team/team-frame.tsx';
import { actorName, auditPredicate, refusalText } from './audit-sentence.ts';
import { type TargetNames, useTargetNames } from './target-names.ts';
import { texts } from './texts.ts';

const auditQuery = (teamId: string) =>
  listQuery([teamId, 'audit', 'list'], {
    read: (cursor, signal) => readTeam<AuditAnswer>(teamId, '/audit', { cursor, limit: 50 }, signal),
    rowsOf: ({ entries }) => entries,
    isOlder: isOlderId,
  });

/** The audit log: actions of the team and refused attempts (specification section 12.6). */
export function AuditPage(): ReactNode {
  const isAllowed = useTeam().can('audit:read');
  return <TeamFrame>{isAllowed ? <AuditLog /> : <NoPermission />}</TeamFrame>;
}

function AuditLog(): ReactNode {
  const team = useTeam();
  const log = useList(auditQuery(team.id));
  const entries = log.rows;
  const names = useTargetNames(entries);
  return (
    <>
      <Card isFlush className="overflow-hidden">
        <Loaded query={log.query}>
          {() =>
            entries.length === 0 ? (
              <EmptyState icon={<ScrollText />} title={texts.none}>
                {texts.whatComes}
              </EmptyState>
            ) : (
              byDay(entries).map(([day, ofDay]) => (
                <section key={day} aria-label={day}>
                  <h2 className="border-b border-line bg-sunken px-5 py-1.5 text-xs font-medium text-quiet max-sm:px-4">
                    {day}
                  </h2>
                  <ul>
                    {ofDay.map((entry) => (
                      <Entry key={entry.id} entry={entry} names={names} />
                    ))}
                  </ul>
                </section>
              ))
            )
          }
        </Loaded>
      </Card>
      <LoadMore list={log} className="mt-4">
        {texts.more}
      </LoadMore>
    </>
  );
}

function Entry({ entry, names }: { readonly entry: AuditEntry; readonly names: TargetNames }): ReactNode {
  const { actor, at, ip, outcome } = entry;
  const actorText = actorName(actor, names);
  const origin = [
    actor.name === actorText || actor.kind === 'key' ? '' : actor.name,
    ip && texts.from({ ip }),
  ]
    .filter((part) => part !== '')
    .join(' · ');
  return (
    <li className={`flex flex-wrap items-baseline gap-x-4 gap-y-1 ${cardRow}`}>
      <div className="min-w-0 flex-1 basis-72 leading-snug">
        <p className="break-words">
          <bdi className="font-medium">{actorText}</bdi> <bdi>{auditPredicate(entry, names)}</bdi>
        </p>
        {origin !== '' && <p className="mt-0.5 text-[0.8125rem] break-words text-quiet">{origin}</p>}
      </div>
      {outcome === 'refused' && <Badge tone="bad">{refusalText(entry)}</Badge>}
      <span className="w-24 text-right text-[0.8125rem] text-quiet max-sm:w-auto">
        <Time at={at} />
      </span>
    </li>
  );
}

/** Groups entries by day in the browser's time zone. */
function byDay(entries: readonly AuditEntry[]): readonly (readonly [string, readonly AuditEntry[]])[] {
  const days = new Map<string, AuditEntry[]>();
  for (const entry of entries) {
    const day = dayOf(entry.at, nowMs());
    const ofDay = days.get(day);
    if (ofDay) ofDay.push(entry);
    else days.set(day, [entry]);
  }
  return [...days];
}
