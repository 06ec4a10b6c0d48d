import { type PlanName, plans } from '#contract/plans.ts';
import { amount } from '#web/kit/format.ts';

export const planTitles: Readonly<Record<PlanName, string>> = {
  free: 'Free',
  starter: 'Starter',
  pro: 'Pro',
  enterprise: 'Enterprise',
};

/** The highest of a limit is shown as unlimited (specification section 8). */
export function isUnlimited(limit: number): boolean {
  return limit >= plans.enterprise.monthlyMessages;
}

export function limitText(limit: number): string {
  return isUnlimited(limit) ? 'Unlimited' : amount(limit);
}

/** The lines of the plan comparison: a label, and the value for a plan. */
export const planLines: readonly (readonly [string, (plan: PlanName) => string])[] = [
  ['Messages a month', (plan) => limitText(plans[plan].monthlyMessages)],
  ['Numbers', (plan) => limitText(plans[plan].numbers)],
  ['Members', (plan) => limitText(plans[plan].members)],
  ['Webhooks', (plan) => limitText(plans[plan].webhooks)],
  ['API requests a minute', (plan) => amount(plans[plan].requestsPerMinute)],
  ['Sending media', (plan) => (plans[plan].standard ? 'Included' : 'No')],
  ['Delivery events', (plan) => (plans[plan].standard ? 'Included' : 'No')],
];
