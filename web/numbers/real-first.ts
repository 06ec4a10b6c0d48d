interface Simulatable {
  readonly simulated?: true;
}

/** Sorts simulated numbers to the end, so that none is a default: their messages reach no person. */
export function realFirst<Sender extends Simulatable>(numbers: readonly Sender[]): Sender[] {
  return numbers.toSorted((one, other) => Number(one.simulated ?? false) - Number(other.simulated ?? false));
}
