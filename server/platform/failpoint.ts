/**
 * Failpoints: lines at which a test ends the process, as a power cut would (docs/architecture.md, "What a kill costs").
 * A test walks this list and fails if one is not in the code; the campaign of kills walks it too.
 */
export const failpoints = [
  'sends accepted',
  'message handed out',
  'report written',
  'text stored',
  'media arriving',
  'places before commit',
  'delivery claimed',
  'delivery sent',
  'delivery answered',
  'results written',
  'failures before commit',
] as const;
export type Failpoint = (typeof failpoints)[number];

/** The failpoint that kills a process, and at which of its passes. */
export interface ArmedFailpoint {
  readonly name: Failpoint;
  readonly pass: number;
}

let armed: ArmedFailpoint | undefined;
let passes = 0;

/** Arms the setting FAILPOINT; only the process's entry calls it, and only tests set it. */
export function armFailpoint(failpoint: ArmedFailpoint | undefined): void {
  armed = failpoint;
}

export function isArmed(name: Failpoint): boolean {
  return armed?.name === name;
}

/** Does nothing, unless a test has armed this one: then it kills the process without output at the n-th pass. */
export function failpoint(name: Failpoint): void {
  if (armed?.name !== name) return;
  passes += 1;
  if (passes === armed.pass) process.kill(process.pid, 'SIGKILL');
}

/** Parses `delivery claimed:3`, the third pass. @returns undefined for any other text */
export function parseFailpoint(text: string): ArmedFailpoint | undefined {
  const [written, pass = '1'] = text.split(':');
  const name = failpoints.find((known) => known === written);
  return name !== undefined && /^[1-9]\d{0,5}$/.test(pass) ? { name, pass: Number(pass) } : undefined;
}
