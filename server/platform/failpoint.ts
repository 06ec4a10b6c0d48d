/**
 * Failpoints: lines at which a test ends the process, as a power cut would (docs/internals/kills.md). A test fails if
 * the code lacks one of these failpoints; the kill campaign uses each of them.
 */
export const failpoints = [
  'sends accepted',
  'messages claimed',
  'message handed out',
  'reports before commit',
  'report written',
  'text before commit',
  'text stored',
  'media arriving',
  'positions before commit',
  'delivery claimed',
  'delivery sent',
  'delivery answered',
  'results written',
  'failures before commit',
] as const;

/**
 * Failpoints of `ownline backup`, `ownline restore` and `ownline erase`: their tests kill the command at each of these
 * failpoints.
 */
export const commandFailpoints = [
  'backup begun',
  'backup table written',
  'backup rows written',
  'backup file written',
  'restore begun',
  'restore table loaded',
  'restore rows loaded',
  'restore key written',
  'restore before commit',
  'restore committed',
  'erasure begun',
  'erasure batch written',
] as const;
export type Failpoint = (typeof failpoints)[number] | (typeof commandFailpoints)[number];

/** The failpoint that kills a process; `pass` is 3 if the process is killed at its third pass. */
export interface ArmedFailpoint {
  readonly name: Failpoint;
  readonly pass: number;
}

let armed: ArmedFailpoint | undefined;
let passes = 0;

/** Arms the setting FAILPOINT. Only the entry point of a process calls it, and only tests set it. */
export function armFailpoint(failpoint: ArmedFailpoint | undefined): void {
  armed = failpoint;
}

export function isArmed(name: Failpoint): boolean {
  return armed?.name === name;
}

/**
 * A line at which a test may kill the process. If a test has armed this failpoint, the process is killed without
 * output; otherwise nothing happens.
 */
export function failpoint(name: Failpoint): void {
  if (armed?.name !== name) return;
  passes += 1;
  if (passes === armed.pass) process.kill(process.pid, 'SIGKILL');
}

/** Parses `delivery claimed:3`, where 3 is the pass. @returns undefined for any other text */
export function parseFailpoint(text: string): ArmedFailpoint | undefined {
  const [written, pass = '1'] = text.split(':');
  const name = [...failpoints, ...commandFailpoints].find((known) => known === written);
  return name !== undefined && /^[1-9]\d{0,5}$/.test(pass) ? { name, pass: Number(pass) } : undefined;
}
