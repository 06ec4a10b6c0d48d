import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import { peersChannel } from '#server/database/channels.ts';
import { NotificationListener } from '#server/database/listener.ts';
import { findOpenHold } from '#server/database/restore-hold.ts';
import { PromotionCheck } from '#server/device-protocol/check-promotion.ts';
import { Peers } from '#server/device-protocol/peers.ts';
import { claimMessages } from '#server/messages/claim-message.ts';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';
import {
  copyDatabase,
  setSynchronousStandby,
  startDatabasePair,
} from '#test/support/database/database-pair.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { startMovingProxy } from '#test/support/proxies/moving-proxy.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

interface Case {
  readonly title: string;
  /** Processes that hand out a message before the failover: this many of them lose another one in it. */
  readonly processes: 1 | 2;
  readonly losing?: readonly (0 | 1)[];
  readonly isSynchronous?: true;
  /** The processes before the failover end, and `new` begins then: before the failover, or after it. */
  readonly restart?: 'before' | 'after';
  /** The processes that claim at the new primary, in turn, and what each claim gives. `closed`: it may not claim. */
  readonly looks: readonly (readonly [
    process: 0 | 1 | 'new',
    claim: 'message' | 'nothing' | 'closed',
    afterMs?: number,
  ])[];
}

const cases: Record<string, Case> = {
  stands: {
    title: 'a failover that lost no hand-out holds nothing',
    processes: 1,
    looks: [[0, 'message']],
  },
  missing: {
    title: 'a failover that lost a hand-out holds what was queued',
    processes: 1,
    losing: [0],
    looks: [[0, 'nothing']],
  },
  both: {
    title: 'no process claims before each one has found its last hand-outs',
    processes: 2,
    looks: [
      [0, 'closed'],
      [1, 'message'],
      [0, 'message'],
    ],
  },
  other: {
    title: 'a hand-out that only the other process misses holds what was queued',
    processes: 2,
    losing: [1],
    looks: [
      [0, 'closed'],
      [1, 'nothing'],
      [0, 'nothing'],
    ],
  },
  silent: {
    title: 'without a synchronous standby, a process that is silent for 10 s may have lost hand-outs',
    processes: 2,
    looks: [
      [0, 'closed'],
      [0, 'closed', 9_000],
      [0, 'nothing', 1_000],
    ],
  },
  synchronous: {
    title: 'with a synchronous standby, a process that is silent for 10 s has lost none',
    processes: 2,
    isSynchronous: true,
    looks: [
      [0, 'closed'],
      [0, 'message', 10_000],
    ],
  },
  started: {
    title: 'a process that starts after a failover, and finds none that vouches, holds what was queued',
    processes: 1,
    restart: 'after',
    looks: [
      ['new', 'closed'],
      ['new', 'closed', 14_000],
      ['new', 'nothing', 1_000],
    ],
  },
  restarted: {
    title: 'a process that restarted before the failover, which lost its start, holds what was queued',
    processes: 1,
    losing: [0],
    restart: 'before',
    looks: [['new', 'nothing']],
  },
  beside: {
    title: 'a process that starts after a failover leaves the verdict to those that claimed before',
    processes: 1,
    looks: [
      ['new', 'closed', 14_000],
      [0, 'message'],
      ['new', 'message'],
    ],
  },
};

const logger = createLogger('silent');
const secretsKey = Buffer.alloc(32, 7).toString('base64');

/** A process that claims messages for a phone, without HTTP. Its promotions are checked with its claims only. */
async function startProcess(databaseUrl: string, dataDir: string, clock: Clock, phone: DirectPhone) {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SECRETS_KEY: secretsKey,
    PACING: 'off',
  });
  const runtime = await openRuntime(config, databaseUrl, logger, clock);
  const { database } = runtime;
  const peers = new Peers(runtime);
  const check = new PromotionCheck(runtime, peers, () => undefined);
  const listener = new NotificationListener(databaseUrl, logger, database);
  listener.on(peersChannel, (payload) => peers.notify(payload));
  await listener.start();
  await peers.start();
  return {
    runtime,
    peers,
    check,
    /** Claims a message, and reports it as sent. */
    claim: async () => {
      const claims = await check.permit((db) => claimMessages(runtime, [phone.session], 60_000, db));
      const [claim] = claims ?? ['closed' as const];
      if (typeof claim !== 'object') return claim === 'closed' ? claim : 'again';
      if (claim.kind !== 'hand_out') return claim.kind;
      await phone.report(runtime, claim.handOut);
      return 'message';
    },
    close: async () => {
      await peers.stop();
      await listener.stop();
      await database.close();
    },
  };
}

type ClaimingProcess = Awaited<ReturnType<typeof startProcess>>;

interface World {
  readonly processes: ClaimingProcess[];
  readonly clock: Clock;
  readonly proxy: Awaited<ReturnType<typeof startMovingProxy>>;
  readonly start: () => Promise<ClaimingProcess>;
}

describe('a failover of the database, checked before any claim (specification section 10.8, decision 0060)', () => {
  const [folder, dataDir] = [givenFolder('ownline-checked-pair-'), givenFolder('ownline-checked-')];
  const worlds = new Map<string, World>();
  let phone: DirectPhone;

  /** Connects a phone, and sends four messages to it. */
  const prepare = async (databaseUrl: string) => {
    const service = await startTestService({
      ...{ DATABASE_URL: databaseUrl, SECRETS_KEY: secretsKey },
      ...{ ROLES: 'api', DEVICE_LEASE_SECONDS: '600' },
    });
    const team = await service.newTeam();
    const number = await connectNumber(service, team);
    phone = await DirectPhone.of(service, number);
    for (const content of ['first', 'second', 'third', 'fourth'])
      await team.api.send({ from: number.phoneNumber, to: '+12125550100', content });
    await service.close();
  };

  /** Starts the processes of a case in a database of its own. Each hands out a message, which the failover keeps. */
  const begin = async (name: string, { processes: count }: Case, socket: string) => {
    await copyDatabase(socket, name);
    const proxy = await startMovingProxy();
    proxy.leadTo(socket);
    const clock = new Clock();
    const url = proxy.url.replace(/ownline$/, name);
    const processes: ClaimingProcess[] = [];
    const start = async () => {
      const started = await startProcess(url, join(dataDir, name), clock, phone);
      processes.push(started);
      return started;
    };
    worlds.set(name, { processes, clock, proxy, start });
    while (processes.length < count) assert.equal(await (await start()).claim(), 'message');
    await until('the processes know each other', () =>
      processes.every(({ peers }) => peers.claiming.length === count - 1),
    );
  };

  const pair = given(() =>
    startDatabasePair(folder, async (databaseUrl, socket) => {
      await prepare(databaseUrl);
      for (const [name, one] of Object.entries(cases)) await begin(name, one, socket);
    }),
  );
  given(
    () => ({}),
    async () => {
      for (const { processes, proxy } of worlds.values()) {
        await Promise.all(processes.map((started) => started.close()));
        proxy.close();
      }
    },
  );

  for (const [name, { title, losing = [], isSynchronous, restart, looks }] of Object.entries(cases))
    it(title, async () => {
      const world = worlds.get(name);
      assert.ok(world);
      const { processes, proxy, clock, start } = world;
      const lead = (socket: string) => {
        proxy.leadTo(socket);
        proxy.cut();
      };
      lead(pair.olderSocket);
      for (const index of losing) assert.equal(await processes[index]?.claim(), 'message');
      if (isSynchronous) {
        await setSynchronousStandby(pair.olderSocket, 'a_standby');
        await until('each process has read it', async () => {
          for (const { runtime } of processes) await runtime.database.followTimeline();
          return processes.every(({ runtime }) => runtime.database.timeline.wasSynchronous);
        });
        await setSynchronousStandby(pair.olderSocket, '');
      }
      if (restart) for (const ended of processes.splice(0)) await ended.close();
      const restarted = restart === 'before' ? await start() : undefined;
      await restarted?.check.run();
      lead(pair.newerSocket);
      const isNew = !restarted && looks.some(([process]) => process === 'new');
      const started = isNew ? await start() : restarted;
      for (const [process, claim, afterMs = 0] of looks) {
        const looking = process === 'new' ? started : processes[process];
        assert.ok(looking);
        await looking.runtime.database.followTimeline();
        clock.advance(afterMs);
        assert.equal(await looking.claim(), claim);
      }
      const [first] = processes;
      assert.ok(first);
      const hold = await findOpenHold(first.runtime.database.pool);
      assert.equal(hold?.reason, looks.some(([, claim]) => claim === 'nothing') ? 'outage' : undefined);
    });
});
