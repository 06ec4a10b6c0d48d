import { useEffect, useState } from 'react';
import type { ResourceType } from '#contract/change.ts';
import { rereadWholeLists } from '#web/api/lists.ts';
import { queryClient } from '#web/api/query-client.ts';
import { signIn } from '#web/api/signed-out.ts';
import { waitingPath } from '#web/conversations/conversation-queries.ts';
import { setServerTime } from '#web/kit/clock.ts';
import { overviewQuery } from '#web/shell/session.ts';
import { Coalescer } from './coalescer.ts';
import { followLiveStream } from './live-stream.ts';
import { reread as rereadKey } from './reread.ts';

/**
 * Intervals between reads that cost more than rows: of the list of conversations with the unread count, and of the
 * states of numbers. They grow from the first to the second value while messages arrive without a pause.
 */
const conversationsMs = [1_000, 6_000] as const;
const statesMs = [3_000, 15_000] as const;

const isOfConversations = (path: unknown) => path === waitingPath || path === 'conversations';

/** Keys of further queries that show a resource type, although the keys begin with another one. */
const alsoShown: Partial<Record<ResourceType, readonly (readonly string[])[]>> = {
  // A conversation shows whether its number is paused.
  number: [['message', 'thread']],
  opt_out: [
    ['message', 'thread'],
    ['message', 'conversations'],
  ],
  // Lists and threads show the names of contacts.
  contact: [['message']],
  // Home shows the changes of the team by API keys.
  invitation: [['number', '/home']],
  member: [['number', '/home']],
  team: [['number', '/home']],
};

/** How long the stream may be interrupted, as by a restart of the server, before a notice is shown. */
const noticeMs = 4_000;

/**
 * Keeps the loaded data of a team current by its live stream.
 * @returns whether the stream has been interrupted for a while
 */
export function useLiveStream(teamId: string): { readonly isAway: boolean } {
  const [isAway, setIsAway] = useState(false);
  useEffect(() => {
    const reread = (key: readonly string[], isWanted?: (path: unknown) => boolean) =>
      rereadKey(queryClient, [teamId, ...key], ({ queryKey: [, , path] }) => isWanted?.(path) ?? true);
    const rereadAll = () => {
      rereadWholeLists(teamId);
      reread([]);
      // A change of members may concern the role of the signed-in person.
      void queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey });
    };
    const conversations = new Coalescer(conversationsMs, () => reread(['message'], isOfConversations));
    // Pacing warnings and inbound coverage of a number depend on its messages.
    const states = new Coalescer(statesMs, () => {
      reread(['number'], (path) => path !== '/numbers');
      reread(['usage']);
    });
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
      changed: ({ resources }) => {
        for (const type of resources) {
          if (type === 'message') conversations.run();
          if (type === 'message' || type === 'usage') states.run();
          if (type !== 'usage') reread([type], (path) => !isOfConversations(path));
          for (const key of alsoShown[type] ?? []) reread(key);
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
      conversations.stop();
      states.stop();
      clearTimeout(notice);
    };
  }, [teamId]);
  return { isAway };
}
