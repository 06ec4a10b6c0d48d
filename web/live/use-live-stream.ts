import { useEffect, useState } from 'react';
import type { LiveRows } from '#contract/live.ts';
import { queryClient } from '#web/api/query-client.ts';
import { signIn } from '#web/api/signed-out.ts';
import { hasUnread } from '#web/conversations/unread.ts';
import { setServerTime } from '#web/kit/clock.ts';
import { overviewQuery } from '#web/shell/session.ts';
import { rereadDeliveries } from '#web/webhooks/webhook-queries.ts';
import { applyRows } from './apply-rows.ts';
import { followLiveStream } from './live-stream.ts';
import { RowsDuringReads } from './rows-during-reads.ts';
import { Throttle } from './throttle.ts';

/** The shortest interval between reads of counts and states, which rows do not contain. */
const countsMs = 3_000;
/** The longest interval between reads of number states, while messages arrive without a pause. */
const countsMaxMs = 15_000;

/** How long the stream may be interrupted, as by a restart of the server, before a notice is shown. */
const noticeMs = 4_000;

/**
 * Keeps the loaded data of a team current by its live stream.
 * @returns whether the stream has been interrupted for a while
 */
export function useLiveStream(teamId: string): { readonly isAway: boolean } {
  const [isAway, setIsAway] = useState(false);
  useEffect(() => {
    const invalidate = (...key: string[]) =>
      void queryClient.invalidateQueries({ queryKey: [teamId, ...key] });
    const rereadAll = () => {
      invalidate();
      // A change of members may concern the role of the signed-in person.
      void queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey });
    };
    const rereadNumbers = () => {
      invalidate('number', '/home');
      // Pacing warnings and inbound coverage of a number depend on its messages.
      void queryClient.invalidateQueries({
        queryKey: [teamId, 'number'],
        predicate: ({ queryKey: [, , path] }) => String(path).startsWith('/numbers/'),
      });
    };
    const states = new Throttle(countsMs, rereadNumbers);
    const counts = new Throttle(countsMs, rereadNumbers, countsMaxMs);
    const unread = new Throttle(countsMs, () => invalidate('message', '/conversations/unread'));
    const duringReads = new RowsDuringReads<LiveRows>(
      queryClient,
      teamId,
      (rows) => void applyRows(queryClient, teamId, rows),
    );
    const lists = new Throttle(countsMs, () => invalidate('message', 'conversations'));
    let notice: ReturnType<typeof setTimeout> | undefined;
    const end = followLiveStream(teamId, {
      connected: (isConnected) => {
        if (isConnected) {
          clearTimeout(notice);
          notice = undefined;
          setIsAway(false);
          return;
        }
        // The stream calls this function after each failed try. The time until the notice counts from the first
        // failure.
        notice ??= setTimeout(() => setIsAway(true), noticeMs);
      },
      hello: ({ at }) => {
        setServerTime(at);
        rereadAll();
      },
      rows: (rows) => {
        const { hasUnknownConversations } = applyRows(queryClient, teamId, rows);
        duringReads.note({ ...rows, numbers_complete: false });
        if (hasUnknownConversations) lists.run();
        for (const key of openDetailsOf(rows)) invalidate('message', ...key);
        if (hasUnread(rows.messages)) unread.run();
        if (rows.numbers.length + rows.removed_numbers.length > 0) states.run();
        else if (rows.messages.length > 0) counts.run();
      },
      changed: ({ resources }) => {
        for (const resource of resources) {
          if (resource === 'delivery') void rereadDeliveries(teamId);
          else invalidate(resource);
        }
        // Home shows the changes of the team by API keys.
        if (resources.some((resource) => ['invitation', 'member', 'team'].includes(resource)))
          invalidate('number', '/home');
        // Conversations show opt-outs, too.
        if (resources.includes('opt_out')) {
          invalidate('message', 'thread');
          lists.run();
        }
      },
      reload: rereadAll,
      ended: ({ reason }) => {
        if (reason === 'signed_out') signIn();
        else void queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey });
      },
    });
    return () => {
      end();
      states.stop();
      counts.stop();
      unread.stop();
      duringReads.end();
      lists.stop();
      clearTimeout(notice);
    };
  }, [teamId]);
  return { isAway };
}

/** Query keys of open threads and timelines, which are read again because they show more of a message than its row. */
function openDetailsOf({ messages, conversations, numbers }: LiveRows): readonly string[][] {
  return [
    ...messages.map(({ id }) => [`/messages/${id}/timeline`]),
    ...conversations.map(({ phone_number, contact }) => ['thread', phone_number, contact]),
    // A conversation shows whether its number is paused.
    ...numbers.map(({ phone_number }) => ['thread', phone_number]),
  ];
}
