import type { Command } from 'commander';
import type { CompletedRequest } from '#server/http/request-log.ts';
import type { Route } from '#server/http/route.ts';
import type { Loop } from '#server/platform/concurrency/loop.ts';
import type { ProcessRole } from '#server/platform/config.ts';
import type { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import type { ClockSync } from './clock-sync.ts';
import type { Runtime } from './runtime.ts';

/** The runtime of a process that serves, with what its slices share. */
export interface ProcessServices extends Runtime {
  readonly databaseUrl: string;
  readonly clockSync: ClockSync;
  readonly outbound: OutboundHttp;
  readonly isStopping: () => boolean;
  /** Adds the reason, such as a full disk, to the text of an error. */
  readonly explainError: (error: unknown) => unknown;
  /** The address and the loops of the process, once it listens. */
  readonly running: { readonly address: string; readonly loops: readonly Loop[] };
}

/** A slice as the composition root sees it. Opening a slice registers its metrics; it starts nothing, and writes nothing. */
export interface Slice {
  /** Routes of processes with the role `api`. */
  readonly routes?: readonly Route[];
  /** Routes of every process, for its operator. */
  readonly operatorRoutes?: readonly Route[];
  readonly jobs?: readonly Job[];
  /** Listeners to notifications of all processes. The payload is empty after each new connection. */
  readonly channels?: Readonly<Record<string, (payload: string) => void>>;
  /** Called for each answered request. */
  readonly observe?: (answered: CompletedRequest) => void;
  /**
   * The registries of requests that are held, such as long polls and live streams. A stop of the server ends their
   * waits, so that each request is answered.
   */
  readonly holds?: readonly { readonly stop: () => void }[];
  /** Work that goes on after its request was answered. A stop of the process waits for it once the server is closed. */
  readonly drain?: { readonly name: string; readonly run: () => Promise<void> };
}

/** Adds the commands of a slice to the command line (server/cli/main.ts). */
export type AddCommands = (program: Command, onRuntime: OnRuntime) => void;

/**
 * Makes the action of a command that runs on the database of a running server, through the same use cases as the API.
 * It prints what `work` returns: a line per field, a table for a list, or JSON with --json.
 */
export type OnRuntime = <Options>(
  work: (runtime: Runtime, options: Options) => Promise<object>,
) => (options: Options & { readonly json: boolean }) => Promise<void>;

/** Work that repeats in processes of a role; without a role in every process. */
export type Job = Sweep | Worker;

interface JobOptions {
  readonly role?: ProcessRole;
  /** The channel that requests a round at once. */
  readonly wokenBy?: string;
}

/**
 * The effect of a sweep on old rows. A sweep that `expires` or `resolves` rows does nothing while the time is uncertain
 * (decision 0020). A sweep that `expires` rows also does nothing during a restore hold (decision 0034).
 * test/database/expiry-holds.slow.test.ts checks each declaration.
 */
type Expiry = 'expires' | 'resolves' | 'keeps';

/** A function that runs again and again. Sweeps do the work of notifications that were lost. */
export interface Sweep extends JobOptions {
  readonly sweep: string;
  readonly intervalMs: number;
  /** Upper bound on the share of time that rounds take (`Loop`). */
  readonly shareMax?: number;
  readonly expiry: Expiry;
  readonly run: () => Promise<unknown>;
}

/** Work with loops of its own, which is created in processes of its role only. */
interface Worker extends JobOptions {
  readonly worker: () => Runner;
  /** True for work that calls this server: it starts once the server listens, and stops before it closes. */
  readonly afterListening?: true;
}

export interface Runner {
  readonly loops: readonly Loop[];
  readonly start: () => Promise<void> | void;
  /** Requests a round. @param payload of the notification that woke the job; empty: anything may be due */
  readonly notify: (payload?: string) => void;
  readonly stop: () => Promise<void>;
}

export function sweep(
  role: ProcessRole,
  name: string,
  intervalMs: number,
  expiry: Expiry,
  run: Sweep['run'],
): Sweep {
  return { role, sweep: name, intervalMs, expiry, run };
}
