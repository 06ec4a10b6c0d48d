import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { AccountSession } from '#contract/account.ts';
import { basePath } from '#web/api/base-path.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card, cardRow } from '#web/kit/card.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { Hint } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { notify } from '#web/kit/toast.tsx';
import { endSession, rereadAccount, sessionsQuery, signOutEverywhere } from './account-queries.ts';
import { browserName } from './browser-name.ts';
import { texts } from './texts.ts';

/** The signed-in browsers of the account, each with a button to sign it out. */
export function SessionsCard(): ReactNode {
  const sessions = useQuery(sessionsQuery);
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Card isFlush title={texts.sessions.title} description={texts.sessions.description}>
      <Loaded query={sessions}>
        {({ sessions: list }) => (
          <ul>
            {list.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </ul>
        )}
      </Loaded>
      <div className="flex flex-wrap items-center justify-between gap-3 border-t border-line px-5 py-3.5 max-sm:px-4">
        <p className="text-quiet">{texts.sessions.lost}</p>
        <Button look="dangerQuiet" size="small" onClick={() => setIsAsking(true)}>
          {texts.sessions.everywhere}
        </Button>
      </div>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={texts.sessions.everywhereTitle}
        action={texts.sessions.everywhere}
        onConfirm={async () => {
          await signOutEverywhere();
          location.assign(`${basePath}/sign-in`);
        }}
      >
        <p>{texts.sessions.everywhereEffect}</p>
      </Confirm>
    </Card>
  );
}

function SessionRow({ session }: { readonly session: AccountSession }): ReactNode {
  const { id, current, method, ip, user_agent, created_at, last_used_at } = session;
  const name = browserName(user_agent);
  const work = useMutation({
    mutationFn: () => endSession(id),
    onSuccess: async () => {
      notify(texts.sessions.signedOut({ name }));
      await rereadAccount();
    },
  });
  return (
    <li className={cardRow}>
      <div className="flex items-center justify-between gap-3">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-2 font-medium" title={user_agent}>
            {name}
            {current && <Badge tone="accent">{texts.sessions.this}</Badge>}
          </p>
          <Hint>
            {texts.sessions.facts({
              used: <Time at={last_used_at} />,
              signedIn: <Time at={created_at} />,
              method: texts.sessions.methods[method],
              ip: <span className="tabular-nums">{ip}</span>,
            })}
          </Hint>
        </div>
        {!current && (
          <Button
            size="small"
            aria-label={texts.sessions.signOutOne({ name })}
            isBusy={work.isPending}
            onClick={() => work.mutate()}
          >
            {texts.sessions.signOut}
          </Button>
        )}
      </div>
      {work.error && <ErrorNote error={work.error} className="mt-2" />}
    </li>
  );
}
