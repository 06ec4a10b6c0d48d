import { setTimeout as pause } from 'node:timers/promises';
import type { DatabaseNode } from './node.ts';
import type { Site } from './site.ts';

/** Times of deploy/ha/patroni.yml, in seconds. */
const [ttl, loopWait, walSenderTimeout] = [20, 5, 3];
/** Patroni needs up to four rounds until a new primary has a synchronous standby. */
const namedWithin = 4 * loopWait;
/** Before that, the lost leader's key has to expire. */
const replacedWithin = ttl + namedWithin + 5;

export interface Scenario {
  readonly name: string;
  readonly goal: string;
  /** How long no send may be answered 202, in seconds. */
  readonly silentFor: number;
  /** Does the harm. @returns a function that undoes it */
  readonly harm: (site: Site, signal: AbortSignal) => Promise<() => Promise<void> | void>;
}

const nothing = () => undefined;

/** Freezes a node until it is thawed. */
function freeze(node: DatabaseNode): () => void {
  node.signal('SIGSTOP');
  return () => node.signal('SIGCONT');
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'primary killed',
    goal: 'H1',
    silentFor: replacedWithin,
    harm: async (site) => {
      const primary = await site.get('primary');
      await primary.kill();
      return () => primary.start();
    },
  },
  {
    name: 'primary frozen',
    goal: 'H1',
    silentFor: replacedWithin,
    harm: async (site) => freeze(await site.get('primary')),
  },
  {
    name: 'switchover',
    goal: 'H1',
    silentFor: namedWithin,
    harm: async (site) => {
      const [primary, standby] = [await site.get('primary'), await site.get('sync')];
      await primary.switchOver(standby);
      return nothing;
    },
  },
  {
    name: 'standby frozen',
    goal: 'H4',
    silentFor: walSenderTimeout + loopWait + 2,
    harm: async (site) => freeze(await site.get('sync')),
  },
  {
    name: 'rolling restart',
    goal: 'H5',
    silentFor: 2,
    harm: async (site, signal) => {
      for (const process of site.processes) {
        await process.stop();
        await process.start();
        // The balancer has to see the process before the next one stops.
        await pause(3_000, undefined, { signal });
      }
      return nothing;
    },
  },
];
