import type { Ownline } from '../ownline.ts';
import { createKey } from '../set-up.ts';
import { type Caller, strangers } from './caller.ts';
import type { Route } from './route-table.ts';
import { makeTenant, type Tenant } from './tenant.ts';

export interface Cast {
  /** The team whose sends are measured during the attacks. */
  readonly victim: Tenant;
  /** Two teams that attack in turn, so that each attack starts with an unused rate limit. */
  readonly attackers: readonly [Tenant, Tenant];
  readonly subscriber: Tenant;
  readonly strangers: readonly Caller[];
  /** A revoked key. */
  readonly wrongKey: string;
  readonly hook: string;
  /** Queued messages, which can be cancelled: of the first attacker, and of the subscriber. */
  readonly queued: string[];
  readonly subscribed: string[];
}

interface CastPlan {
  readonly ownline: Ownline;
  readonly routes: readonly Route[];
  readonly hook: string;
  readonly messages: number;
  readonly webhooks: number;
}

/** The number of each team's messages that are cancelled to create events. */
const eventsMax = 40;

/** Creates the teams and their resources, on a service without rate limits. */
export async function makeCast(plan: CastPlan, signal: AbortSignal): Promise<Cast> {
  const { ownline, routes, hook } = plan;
  const make = (name: string, from: string) => makeTenant(ownline, { name, from }, signal);
  const victim = await make('Victim', '+14155550101');
  const attackers = [await make('First', '+14155550111'), await make('Second', '+14155550112')] as const;
  const subscriber = await make('Subscriber', '+14155550121');
  const queued: string[] = [];
  for (const attacker of attackers) {
    await attacker.subscribe(3, hook, signal);
    queued.unshift(...(await attacker.seed(plan.messages, eventsMax, signal)));
    await attacker.readIds(routes);
  }
  await subscriber.subscribe(plan.webhooks, hook, signal);
  const subscribed = await subscriber.seed(eventsMax, 0, signal);
  const revoked = await createKey(ownline, victim.credentials.teamId);
  await ownline.command('key', 'revoke', '--key', revoked.id);
  return {
    ...{ victim, attackers, subscriber, hook, wrongKey: revoked.key, subscribed },
    strangers: strangers({ apiKey: revoked.key }, victim.known(hook)),
    // The messages of the first attacker are at the end of the list.
    queued: queued.slice(-plan.messages + eventsMax),
  };
}
