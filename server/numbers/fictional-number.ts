import { randomInt } from 'node:crypto';

/** A random number reserved for fiction: +1 NXX 555 01XX, with any area code that does not end with 11. */
export function randomFictionalNumber(): string {
  const areaCode = randomInt(200, 1_000);
  if (areaCode % 100 === 11) return randomFictionalNumber();
  return `+1${areaCode}55501${String(randomInt(100)).padStart(2, '0')}`;
}
