import type { ResourceType } from '#contract/change.ts';
import type { LiveRows } from '#contract/live.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { messageView } from '#server/messages/message-view.ts';
import { listMessageIdsSince, listMessagesByIds } from '#server/messages/recent-messages-store.ts';
import { firstIdOfDay, listNumbers, listNumbersByIds } from '#server/numbers/number-store.ts';
import { numberView } from '#server/numbers/number-view.ts';
import { firstIdAt, type NumberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { getUsageSummary } from '#server/usage/get-usage-summary.ts';
import type { WantedRows } from './gathered-changes.ts';
import { refreshMessagesMax } from './limits.ts';
import type { MessageWindow } from './message-window.ts';

type Services = Pick<Runtime, 'database' | 'clock'>;

/** Rows to send, and the types of which there were too many. */
interface ReadRows {
  readonly rows: LiveRows;
  readonly tooMany: readonly ResourceType[];
}

/** Reads the rows that changes ask for, once for all streams of a team. */
export async function readRows(
  services: Services,
  teamId: TeamId,
  wanted: WantedRows,
  window: MessageWindow,
): Promise<ReadRows> {
  const newIds = wanted.hasNewMessages ? await findNewIds(services, teamId, window) : [];
  const { pages } = services.database;
  const ids = new Set<string>([...wanted.messageIds, ...(newIds ?? [])]);
  if (wanted.isRefresh)
    for (const id of await listMessageIdsSince(pages, teamId, firstIdAt(0), refreshMessagesMax)) ids.add(id);
  const messages = await listMessagesByIds(pages, teamId, [...ids]);
  const rows = {
    messages: messages.map(messageView),
    conversations: [],
    ...(await readNumbers(services, teamId, wanted)),
    ...(wanted.usage || wanted.isRefresh ? { usage: await getUsageSummary(services, teamId) } : {}),
  };
  return { rows, tooMany: newIds === undefined ? ['message'] : [] };
}

async function findNewIds({ database, clock }: Services, teamId: TeamId, window: MessageWindow) {
  const ids = await listMessageIdsSince(database.pages, teamId, window.firstId, window.idsMax);
  return window.take(ids, clock.nowMs());
}

async function readNumbers(
  { database: { pool }, clock }: Services,
  teamId: TeamId,
  { numberIds, isRefresh }: WantedRows,
): Promise<Pick<LiveRows, 'numbers' | 'numbers_complete' | 'removed_numbers'>> {
  if (isRefresh) {
    const numbers = await listNumbers(pool, teamId, firstIdOfDay(clock));
    return { numbers: numbers.map(numberView), numbers_complete: true, removed_numbers: [] };
  }
  const ids = [...numberIds] as NumberId[];
  const numbers = ids.length === 0 ? [] : await listNumbersByIds(pool, teamId, firstIdOfDay(clock), ids);
  const found = new Set(numbers.map(({ id }) => id));
  return {
    numbers: numbers.map(numberView),
    numbers_complete: false,
    removed_numbers: ids.filter((id) => !found.has(id)).map((id) => publicId('num', id)),
  };
}
