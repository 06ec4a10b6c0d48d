interface Simulatable {
  readonly simulated?: true;
}

/** Numbers of iPhones before simulated ones: what a simulated number sends reaches no person, so it is the default of nothing. */
export function realFirst<Sender extends Simulatable>(numbers: readonly Sender[]): Sender[] {
  return numbers.toSorted((one, other) => Number(one.simulated ?? false) - Number(other.simulated ?? false));
}
