import type { Ownline } from '../ownline.ts';
import { type Caller, strangers } from './caller.ts';
import type { Route } from './route-table.ts';
import { makeKey, makeTenant, type Tenant } from './tenant.ts';

/** All clients of the service in a campaign. */
export interface Cast {
  /** Another team, whose sends are watched. */
  readonly victim: Tenant;
  /** Two teams in alternation, so that the minute's limit of each is fresh. */
  readonly attackers: readonly [Tenant, Tenant];
  /** A team with many webhooks. */
  readonly subscriber: Tenant;
  readonly strangers: readonly Caller[];
  /** A key that was revoked. */
  readonly wrongKey: string;
  readonly hook: string;
  /** Messages of the first attacker, and of the subscriber, that are queued and can be cancelled. */
  readonly queued: string[];
  readonly subscribed: string[];
}

interface CastPlan {
  readonly ownline: Ownline;
  readonly routes: readonly Route[];
  readonly hook: string;
  /** Messages and webhooks of each attacking team. */
  readonly messages: number;
  readonly webhooks: number;
}

/** Messages of the subscriber, one for each event, and of the attackers that end up as events. */
const eventsMax = 40;

/** Makes the teams and what they own, on a service whose limits per minute are off. */
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
  const revoked = await makeKey(ownline, victim.credentials.teamId);
  await ownline.command('key', 'revoke', '--key', revoked.id);
  return {
    ...{ victim, attackers, subscriber, hook, wrongKey: revoked.key, subscribed },
    strangers: strangers({ apiKey: revoked.key }, victim.known(hook)),
    // The first attacker's, made first.
    queued: queued.slice(-plan.messages + eventsMax),
  };
}
