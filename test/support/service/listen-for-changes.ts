import { type Change, parseChange } from '#server/database/change.ts';
import { changesChannel } from '#server/database/channels.ts';
import { NotificationListener } from '#server/database/listener.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import type { TestService, TestTeam } from './test-service.ts';
import { until } from './until.ts';

export interface HeardChange extends Change {
  readonly teamId: TeamId;
}

/** Another process's ears for the changes of all teams. */
export interface HeardChanges {
  /** The notifications since the last call, of all commits of the service and of the test's own runtime. */
  readonly take: () => Promise<HeardChange[]>;
  readonly stop: () => Promise<void>;
}

/**
 * `take` knows when all notifications have arrived. Each of the two processes changes a team of its own as a marker,
 * and its earlier commits are notified before that.
 */
export async function hearChanges(service: TestService): Promise<HeardChanges> {
  let heard: HeardChange[] = [];
  let taken = 0;
  const notifications = new NotificationListener(service.databaseUrl, createLogger('silent'));
  notifications.on(changesChannel, (payload) => {
    const change = parseChange(payload);
    if (change) heard.push(change);
  });
  await notifications.start();
  const [ofService, ofRuntime] = [await service.newTeam(), await service.newTeam()];
  const isMarker = ({ teamId }: HeardChange) => teamId === ofService.id || teamId === ofRuntime.id;
  const marked = ({ id }: TestTeam) =>
    heard.some(({ teamId, resource }) => teamId === id && resource === 'team');
  const bothMarked = () =>
    until('both processes told of their teams', () => marked(ofService) && marked(ofRuntime));
  // The test's own runtime notifies their creation too: a late notification would count as the first change of each.
  await bothMarked();
  heard = [];
  const take = async () => {
    taken += 1;
    await ofService.api.put('/v1/team', { name: `Marker ${taken}` });
    service.runtime.database.pool.recordChange(ofRuntime.id, 'team', []);
    await bothMarked();
    const others = heard.filter((change) => !isMarker(change));
    heard = [];
    return others;
  };
  await take();
  return { take, stop: () => notifications.stop() };
}
