export const goals = ['R1', 'R2', 'R3'] as const;
export type Goal = (typeof goals)[number];

export const megabyte = 1024 * 1024;

/** A measured figure, and the most that a goal allows. */
export interface Figure {
  readonly goal: Goal;
  /** The load in words. */
  readonly load: string;
  /** The measured quantity in words. */
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit?: 'ms' | 's' | 'MB';
  /** Words that explain the value. */
  readonly note?: string;
}

export function isBroken({ value, limit }: Figure): boolean {
  return value > limit;
}

export function describe({ load, name, value, limit, unit, note }: Figure): string {
  const shown = (amount: number) =>
    unit ? `${amount.toFixed(unit !== 's' && amount < 10 ? 1 : 0)} ${unit}` : String(amount);
  return `${load}: ${name} ${shown(value)}, ${shown(limit)} allowed${note ? `; ${note}` : ''}`;
}

/** Lists the broken limits of each goal, at most 25, and the number of the rest. */
export function verdict(figures: readonly Figure[], perGoal = 25): string {
  const broken = figures.filter(isBroken);
  if (broken.length === 0) return 'R1 to R3 hold.';
  return goals
    .flatMap((goal) => {
      const found = broken.filter((figure) => figure.goal === goal);
      if (found.length === 0) return [`${goal} holds.`];
      const more = found.length > perGoal ? [`  and ${found.length - perGoal} more`] : [];
      return [`${goal} is broken:`, ...found.slice(0, perGoal).map((one) => `  ${describe(one)}`), ...more];
    })
    .join('\n');
}
