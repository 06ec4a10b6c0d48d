/** Limits and features of a plan, per team (specification section 8). Infinity means unlimited. */
export interface Plan {
  readonly requestsPerMinute: number;
  readonly monthlyMessages: number;
  readonly members: number;
  readonly numbers: number;
  readonly webhooks: number;
  /** True if the plan includes media and the event message.delivered: "Standard and higher" in the specification. */
  readonly standard: boolean;
}

export const planNames = ['free', 'starter', 'pro', 'enterprise'] as const;
export type PlanName = (typeof planNames)[number];

export const plans: Readonly<Record<PlanName, Plan>> = {
  free: { requestsPerMinute: 60, monthlyMessages: 100, members: 1, numbers: 1, webhooks: 5, standard: false },
  starter: {
    requestsPerMinute: 300,
    monthlyMessages: 1_000,
    members: 3,
    numbers: 2,
    webhooks: 10,
    standard: true,
  },
  pro: {
    requestsPerMinute: 1_000,
    monthlyMessages: 10_000,
    members: 10,
    numbers: 5,
    webhooks: 25,
    standard: true,
  },
  enterprise: {
    requestsPerMinute: 5_000,
    monthlyMessages: 1_000_000_000,
    members: Number.POSITIVE_INFINITY,
    numbers: Number.POSITIVE_INFINITY,
    webhooks: 100,
    standard: true,
  },
};

export function isPlanName(text: string): text is PlanName {
  return planNames.some((name) => name === text);
}
