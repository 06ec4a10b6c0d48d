import { setTimeout as pause } from 'node:timers/promises';
import type { Restore } from '../cut.ts';
import type { DatabaseNode } from './node.ts';
import { type Site, until } from './site.ts';

/** Times of deploy/ha/patroni.yml, in seconds. */
const [ttl, loopWait, walSenderTimeout] = [20, 2, 3];
/** How long Ownline seeks a connection, and until it closes one that it does not need. */
const [seeking, unusedFor] = [5, 10];
/** A new primary commits once a standby follows it, which is in the next round of Patroni. */
const followedWithin = loopWait + 3;
/** Before that, the lost leader's key has to expire. */
const replacedWithin = ttl + followedWithin;

/** Mends a harm. @returns the times between which commits were lost; undefined if none were */
type Mend = () => Promise<Restore | undefined>;

export interface Scenario {
  readonly name: string;
  readonly goal: string;
  /** How long no send may be answered 202, in seconds. */
  readonly silentFor: number;
  /** How long a phone may get no message, in seconds. */
  readonly phoneWaits?: number;
  /** Whether a client may get no error at all. */
  readonly isSeamless?: boolean;
  /** How many standbys are promoted. */
  readonly promotions: number;
  readonly harm: (site: Site, signal: AbortSignal) => Promise<Mend>;
  /** Checks what operators see. @throws Error with what is wrong */
  readonly look?: (site: Site, signal: AbortSignal) => Promise<void>;
}

const nothing = async () => undefined;

/** Freezes a node until it is thawed. */
function freeze(node: DatabaseNode): Mend {
  node.signal('SIGSTOP');
  return async () => void node.signal('SIGCONT');
}

/** Whether all processes say a text in GET /readyz. */
const allSay = (site: Site, text: string) => async () =>
  (await site.readiness()).every((answer) => answer.includes(text));

export const scenarios: readonly Scenario[] = [
  {
    name: 'primary killed',
    goal: 'H1',
    silentFor: replacedWithin,
    promotions: 1,
    harm: async (site) => {
      const primary = await site.get('primary');
      await primary.kill();
      return async () => void primary.start();
    },
  },
  {
    name: 'primary frozen',
    goal: 'H1',
    silentFor: replacedWithin,
    promotions: 1,
    harm: async (site) => freeze(await site.get('primary')),
  },
  {
    name: 'switchover',
    goal: 'H1',
    silentFor: seeking,
    isSeamless: true,
    promotions: 1,
    harm: async (site) => {
      const [primary, standby] = [await site.get('primary'), await site.get('sync')];
      await primary.switchOver(standby);
      return nothing;
    },
  },
  {
    name: 'commits lost',
    goal: 'H2',
    silentFor: replacedWithin,
    promotions: 1,
    harm: async (site, signal) => {
      const former = await site.get('primary');
      const standbys = site.nodes.filter((node) => node !== former);
      await former.configure({ ...asynchronous, maximum_lag_on_failover: 2 ** 30 });
      await until('the standbys are still synchronous', async () => !(await site.find('sync')), signal);
      const takenAt = Date.now() - arrivesWithinMs;
      for (const node of standbys) node.signalReceiver('SIGSTOP');
      await pause(4_000, undefined, { signal });
      await former.kill();
      // Each receiver ends before it reads what the primary had sent.
      for (const name of ['SIGTERM', 'SIGCONT'] as const)
        for (const node of standbys) node.signalReceiver(name);
      const startedAt = Date.now() + arrivesWithinMs;
      return async () => {
        const { held_at } = await site.command('restore', '--status');
        const resumedAt = Date.now();
        await site.command('restore', '--resume');
        const primary = await site.get('primary');
        await primary.configure({ ...synchronous, maximum_lag_on_failover: null });
        former.start();
        return { takenAt, startedAt, held: { at: Date.parse(String(held_at)), resumedAt } };
      };
    },
    look: (site, signal) =>
      until('a process does not hold the queue', allSay(site, '"outage_hold":true'), signal, 40_000),
  },
  {
    name: 'former primary back',
    goal: 'H3',
    silentFor: replacedWithin,
    promotions: 1,
    harm: async (site, signal) => {
      const former = await site.get('primary');
      await former.kill();
      await until('no standby was promoted', async () => !!(await site.find('primary')), signal);
      const primary = await site.get('primary');
      await pause(5_000, undefined, { signal });
      former.startByHand();
      const server = `database/${former.name}`;
      await site.balance(`disable health ${server}`, `set server ${server} health up`);
      await pause(10_000, undefined, { signal });
      await site.balance(`set server database/${primary.name} state maint`);
      return async () => {
        await former.kill();
        await site.balance(`enable health database/${former.name}`);
        former.start();
        return undefined;
      };
    },
    look: async (site, signal) => {
      const refuse = allSay(site, 'older copy of the database');
      await until('a process does not refuse the former primary', refuse, signal, 10_000).finally(() =>
        site.balance(...site.nodes.map(({ name }) => `set server database/${name} state ready`)),
      );
    },
  },
  {
    name: 'standby frozen',
    goal: 'H4',
    silentFor: walSenderTimeout + loopWait + 2,
    promotions: 0,
    harm: async (site) => freeze(await site.get('sync')),
  },
  {
    name: 'rolling restart',
    goal: 'H5',
    silentFor: 2,
    phoneWaits: 2,
    isSeamless: true,
    promotions: 0,
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
  {
    name: 'too few connections',
    goal: 'H6',
    silentFor: seeking + unusedFor,
    promotions: 0,
    harm: async (site) => {
      const primary = await site.get('primary');
      await primary.sql('ALTER ROLE ownline CONNECTION LIMIT 16');
      await primary.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ownline'");
      return async () => {
        await primary.sql('ALTER ROLE ownline CONNECTION LIMIT -1');
        if (!site.first.isRunning) await site.first.start();
        return undefined;
      };
    },
    look: async (site, signal) => {
      const lacks = async () => {
        const said = await Promise.all(site.processes.map((process) => process.log()));
        return said.some((text) => text.includes('does with those that it has'));
      };
      await until('no process says that it lacks connections', lacks, signal, 10_000);
      await site.first.stop();
      // It ends if the others have taken all connections.
      await site.first.start().catch(() => undefined);
      const said = await site.first.log();
      if (!/allows 16 connections|no connection left/.test(said)) throw new Error('a start did not warn');
    },
  },
];

/** How long a commit takes to an asynchronous standby at most, and an answer to its client. */
const arrivesWithinMs = 1_000;
const asynchronous = { synchronous_mode: false, synchronous_mode_strict: false };
const synchronous = { synchronous_mode: true, synchronous_mode_strict: true };
