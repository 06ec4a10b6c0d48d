import type { ChildProcess } from 'node:child_process';
import { processesOf, send, serviceOf } from './processes.ts';

export interface Started {
  readonly child: ChildProcess;
  readonly dataDir: string;
}

/** A way in which operators and machines stop `npm start`. */
export interface Way {
  readonly name: string;
  /** @param afterSeconds delay of a command that sends the stop itself */
  readonly command: (afterSeconds: number) => readonly [string, ...string[]];
  /** Stops the service; undefined if the command does it. */
  readonly stop: ((started: Started) => void) | undefined;
  /** Whether the exit code is visible. The code is hidden if the signal ends npm before the service. */
  readonly tellsCode: boolean;
  /** Whether PostgreSQL also gets the signal, so that requests in flight may be answered 5xx. */
  readonly stopsDatabase?: boolean;
}

const npmStart = () => ['npm', 'start'] as const;

/** Runs npm as the foreground command of a new terminal. */
const inTerminal = () =>
  ['script', '--quiet', '--return', '--command', 'exec npm start', '/dev/null'] as const;

const toGroup = (signal: NodeJS.Signals) => (started: Started) => send(-pidOf(started), signal);

export const ways: readonly Way[] = [
  {
    name: 'Ctrl-C in a terminal',
    command: inTerminal,
    stop: ({ child }) => void child.stdin?.write('\x03'),
    tellsCode: true,
  },
  {
    name: 'terminal closed',
    command: inTerminal,
    // Killing the program at the terminal's other end closes the terminal.
    stop: ({ child }) => void child.kill('SIGKILL'),
    tellsCode: false,
  },
  { name: 'SIGINT to the group', command: npmStart, stop: toGroup('SIGINT'), tellsCode: true },
  { name: 'SIGTERM to the group', command: npmStart, stop: toGroup('SIGTERM'), tellsCode: true },
  {
    name: 'SIGTERM to npm',
    command: npmStart,
    stop: (started) => send(pidOf(started), 'SIGTERM'),
    tellsCode: true,
  },
  {
    name: 'SIGTERM to the service',
    command: npmStart,
    stop: ({ dataDir }) => {
      const service = serviceOf(dataDir);
      if (service) send(service.pid, 'SIGTERM');
    },
    tellsCode: true,
  },
  {
    name: 'timeout --preserve-status',
    command: (seconds) => ['timeout', '--preserve-status', seconds.toFixed(2), 'npm', 'start'],
    stop: undefined,
    tellsCode: true,
  },
  {
    // systemd does the same with its default, KillMode=control-group.
    name: 'SIGTERM to every process',
    command: npmStart,
    stop: ({ dataDir }) => {
      for (const { pid } of processesOf(dataDir)) send(pid, 'SIGTERM');
    },
    tellsCode: true,
    stopsDatabase: true,
  },
];

function pidOf({ child }: Started): number {
  if (child.pid === undefined) throw new Error('The command could not be started.');
  return child.pid;
}
