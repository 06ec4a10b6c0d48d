import { realpathSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from '../command.ts';
import { freePort } from '../free-port.ts';
import { readOptions } from '../options.ts';
import { Ownline, repository } from '../ownline.ts';
import { inFolder } from '../run-folder.ts';
import { createKey } from '../set-up.ts';
import {
  type Attacked,
  attacksOfProbes,
  attacksOfTeams,
  figuresOfAttack,
  runAlone,
  runAttack,
  type Stage,
  settle,
} from './attacks.ts';
import { strangers as makeStrangers } from './caller.ts';
import { figuresOfCost } from './cost.ts';
import { measureCosts, measureHeldBodies, warmUp } from './costs.ts';
import { describe, type Figure, isBroken, verdict } from './figure.ts';
import { costsAsText, drawAttacks, drawCosts } from './report.ts';
import { nameOf, readRoutes } from './route-table.ts';
import { fullSize, quickSize } from './size.ts';
import { runSlowReaders } from './slow-readers.ts';
import { Tenant } from './tenant.ts';

/** `route` selects routes whose method and path contain this text. With a text only their requests are measured. */
const defaults = { quick: false, route: '', repository, keep: false };

export const neighboursCommand: Command = {
  usage: `neighbours [--quick] [--route TEXT] [--repository PATH] [--keep]

Sends the most expensive requests that each route accepts from a stranger, a member, a key and a phone, measures the CPU
of one and what 64 connections of it do to another team's sends; then sockets that do not read, and one team at its own
limit. --quick: fewer and shorter ones. --route: only routes whose method and path contain TEXT, and only their
requests. --repository: the service of another checkout. --keep: leaves log and figures behind.`,
  run: (args, signal) => runNeighbours(readOptions(args, defaults), signal),
};

const settings = {
  EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
  PACING: 'off',
};

/** The number of each team's messages that are cancelled to create events. */
const eventsMax = 40;

/**
 * Measures the cost of strangers and other teams. Each request is first measured alone, on a service without rate
 * limits. Then rate limits are on, and loads run while another team sends.
 * @returns whether all limits of R1 to R3 held
 */
function runNeighbours(options: typeof defaults, signal: AbortSignal): Promise<boolean> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const startedMs = performance.now();
  const report = (text: string) =>
    process.stderr.write(`${Math.round((performance.now() - startedMs) / 1_000)} s: ${text}\n`);
  const size = options.quick ? quickSize : fullSize;
  return inFolder({ name: 'neighbours', contents: 'Log and figures', keep: options.keep }, async (folder) => {
    const logFile = join(folder, 'service.log');
    const own = {
      repository: realpathSync(options.repository),
      dataDir: join(folder, 'data'),
      logFile,
      port: await freePort(),
    };
    const unlimited = new Ownline({ ...own, settings: { ...settings, RATE_LIMITS: 'off' } });
    const ownline = new Ownline({ ...own, settings });
    const sinkPort = await freePort();
    let taken = 0;
    const sink = createServer((request, response) => {
      taken += 1;
      request.resume();
      response.end();
    }).listen(sinkPort, '127.0.0.1');
    try {
      await unlimited.start();
      const routes = await readRoutes(unlimited);
      const measured = routes.filter((route) => nameOf(route).includes(options.route));
      const hook = `http://127.0.0.1:${sinkPort}/hook`;
      const team = (name: string, from: string) => Tenant.make(unlimited, { name, from, hook }, signal);
      const victim = await team('Victim', '+14155550101');
      const attackers = [await team('First', '+14155550111'), await team('Second', '+14155550112')] as const;
      const subscriber = await team('Subscriber', '+14155550121');
      let queued: string[] = [];
      for (const attacker of attackers) {
        await attacker.subscribe(3);
        queued = await attacker.seed(size.messages, eventsMax);
        await attacker.readIds(routes);
      }
      await subscriber.subscribe(size.webhooks);
      const subscribed = await subscriber.seed(eventsMax, 0);
      const wrong = await createKey(unlimited, victim.credentials.teamId);
      await unlimited.command('key', 'revoke', '--key', wrong.id);
      const strangers = makeStrangers(wrong.key, victim.known);
      report(`${measured.length} routes; the teams are made`);

      const [first] = attackers;
      const plan = { ownline: unlimited, routes: measured, strangers, tenant: first, size, report };
      const figures: Figure[] = [];
      const bodies = await measureHeldBodies(plan, signal);
      const costs = await measureCosts(plan, signal);
      await writeFile(join(folder, 'costs.tsv'), costsAsText(costs.costs));
      await unlimited.stop();

      await ownline.start();
      const stage: Stage = {
        ...{ ownline, routes, victim, attackers, subscriber, queued, subscribed, size, report },
      };
      const { port } = ownline;
      const attacks: Attacked[] = [];
      const attackAll = async (all: ReturnType<typeof attacksOfProbes>) => {
        for (const make of all) {
          attacks.push(await runAttack(stage, await make(), signal));
          report(`attack ${attacks.length}: ${attacks.at(-1)?.name}`);
        }
      };
      await warmUp(port, routes, strangers);
      const alone = await runAlone(stage, signal);
      const aloneMs = `p50 ${alone.p50Ms.toFixed(0)} ms, p99 ${alone.p99Ms.toFixed(0)} ms`;
      report(`another team alone: ${aloneMs}`);
      await attackAll(attacksOfProbes(stage, costs));
      if (options.route === '') {
        await settle(stage, signal);
        figures.push(...(await runSlowReaders(ownline, costs.costs, size.slowReaders, signal)));
        report('sockets that do not read: done');
        // After a minute the teams' rate limits are unused again.
        await pause(60_000, undefined, { signal });
        await attackAll(attacksOfTeams(stage, costs));
      }

      const [worstBody] = bodies.toSorted((a, b) => b.value - a.value);
      say(`Attacks and what they leave to another team's 30 sends a second (alone: ${aloneMs})`);
      say(drawAttacks(attacks));
      say(`\nThe most expensive requests of each caller\n${drawCosts(costs.costs)}\n`);
      for (const figure of [...(worstBody ? [worstBody] : []), ...figures]) say(describe(figure));
      say(`\nLoad of the machine: ${loadavg()[0]?.toFixed(1)}. Deliveries taken: ${taken}.\n`);
      const all = [
        ...costs.costs.flatMap(figuresOfCost),
        ...bodies,
        ...attacks.flatMap(figuresOfAttack),
        ...figures,
      ];
      say(verdict(all));
      return !all.some(isBroken);
    } finally {
      await unlimited.stop();
      await ownline.stop();
      sink.close();
      sink.closeAllConnections();
    }
  });
}
