import { type Change, parseChange } from '#server/database/change.ts';
import { changesChannel } from '#server/database/channels.ts';
import { NotificationListener } from '#server/database/listener.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

export interface HeardChange extends Change {
  readonly teamId: TeamId;
}

/**
 * Starts to listen. To know that all notifications have arrived, `take` makes the service and the test's own runtime
 * each change a marker team. Notifications of earlier commits arrive before those of the markers.
 */
export async function hearChanges(service: TestService) {
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
  // The creation of the marker teams is notified, too, and must not count as their first change.
  await bothMarked();
  heard = [];
  /** The notifications since the last call, from the service and from the test's own runtime. */
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
