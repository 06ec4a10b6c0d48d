import { type PlanName, plans } from './plans.ts';

export const planTitles: Readonly<Record<PlanName, string>> = {
  free: 'Free',
  starter: 'Starter',
  pro: 'Pro',
  enterprise: 'Enterprise',
};

/** Limits as high as those of the enterprise plan are shown as unlimited (specification section 8). */
export function isUnlimited(limit: number): boolean {
  return limit >= plans.enterprise.monthlyMessages;
}

export function limitText(limit: number): string {
  return isUnlimited(limit) ? 'Unlimited' : limit.toLocaleString('en');
}

/** The lines of the plan comparison: a label, and a function that returns a plan's value. */
export const planLines: readonly (readonly [string, (plan: PlanName) => string])[] = [
  ['Messages a month', (plan) => limitText(plans[plan].monthlyMessages)],
  ['Numbers', (plan) => limitText(plans[plan].numbers)],
  ['Members', (plan) => limitText(plans[plan].members)],
  ['Webhooks', (plan) => limitText(plans[plan].webhooks)],
  ['API requests a minute', (plan) => limitText(plans[plan].requestsPerMinute)],
  ['Sending media', (plan) => (plans[plan].standard ? 'Included' : 'No')],
  ['Delivery events', (plan) => (plans[plan].standard ? 'Included' : 'No')],
];
