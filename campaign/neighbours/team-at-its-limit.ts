import { setTimeout as pause } from 'node:timers/promises';
import { itemsOf } from '../api.ts';
import { type AttackPlan, type Beside, beside } from './attack.ts';
import { Connection } from './connection.ts';
import type { Tenant } from './tenant.ts';

/** The effect of one team's load on another team's sends. */
export interface TeamLoad extends Beside {
  readonly name: string;
  readonly statuses: ReadonlyMap<number, number>;
}

const openedAtOnce = 250;
const answerWithinMs = 30_000;

/** Sends many requests at the same moment, each on its own connection. */
export async function runAtOnce(
  { name, requests, request }: { readonly name: string; readonly requests: number; readonly request: Buffer },
  plan: AttackPlan,
  signal: AbortSignal,
): Promise<TeamLoad> {
  const connections = await openMany(plan.port, requests, signal);
  const statuses = new Map<number, number>();
  try {
    const { result: _, ...figures } = await beside(plan, signal, async () => {
      await Promise.all(connections.map((connection) => askOnce(connection, request, statuses)));
    });
    return { name, statuses, ...figures };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/**
 * Runs long polls of the feed on many connections, while new events end the polls. Each poll is repeated after its
 * answer.
 */
export async function runHeldReads(
  {
    tenant,
    reads,
    messages,
  }: { readonly tenant: Tenant; readonly reads: number; readonly messages: string[] },
  plan: AttackPlan,
  signal: AbortSignal,
): Promise<TeamLoad> {
  const after = await lastEvent(tenant);
  const head = [`GET /v1/events?after=${after}&wait=25 HTTP/1.1`, `host: 127.0.0.1:${plan.port}`];
  const request = Buffer.from(`${[...head, `x-api-key: ${tenant.credentials.apiKey}`].join('\r\n')}\r\n\r\n`);
  const connections = await openMany(plan.port, reads, signal);
  const statuses = new Map<number, number>();
  try {
    const { result: _, ...figures } = await beside(plan, signal, async (end) => {
      const reading = connections.map((connection) => askOnce(connection, request, statuses));
      const cancelled = await cancelEvery(2_000, { tenant, messages }, plan.port, end);
      for (const connection of connections) connection.close();
      await Promise.all(reading);
      return cancelled;
    });
    return { name: `${reads} reads of the feed at once`, statuses, ...figures };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Creates events that each go to many webhooks. */
export async function runManyWebhooks(
  {
    tenant,
    webhooks,
    messages,
  }: { readonly tenant: Tenant; readonly webhooks: number; readonly messages: string[] },
  plan: AttackPlan,
  signal: AbortSignal,
): Promise<TeamLoad> {
  const statuses = new Map<number, number>();
  const { result: _, ...figures } = await beside(plan, signal, async (end) => {
    const everyMs = 1_000;
    return cancelEvery(everyMs, { tenant, messages, statuses }, plan.port, end);
  });
  return { name: `an event a second, each for ${webhooks} webhooks`, statuses, ...figures };
}

/** Cancels messages at an interval; each cancellation makes an event. */
async function cancelEvery(
  everyMs: number,
  {
    tenant,
    messages,
    statuses = new Map(),
  }: { tenant: Tenant; messages: string[]; statuses?: Map<number, number> },
  port: number,
  end: AbortSignal,
): Promise<void> {
  const asked: Promise<void>[] = [];
  while (!end.aborted) {
    const message = messages.pop();
    if (message === undefined) throw new Error('The load used up all messages of the team. Give it more.');
    const connection = await Connection.open({ port });
    asked.push(
      askOnce(connection, tenant.cancelRequest(message), statuses).finally(() => connection.close()),
    );
    await pause(everyMs, undefined, { signal: end }).catch(() => undefined);
  }
  await Promise.all(asked);
}

/** Sends a request and counts its status, or 0 without a response. */
async function askOnce(
  connection: Connection,
  request: Buffer,
  statuses: Map<number, number>,
): Promise<void> {
  const status = await connection.ask(request, answerWithinMs).then(
    (reply) => reply.status,
    () => 0,
  );
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

async function openMany(port: number, count: number, signal: AbortSignal): Promise<Connection[]> {
  const open: Connection[] = [];
  while (open.length < count) {
    signal.throwIfAborted();
    const batch = Math.min(openedAtOnce, count - open.length);
    open.push(...(await Promise.all(Array.from({ length: batch }, () => Connection.open({ port })))));
  }
  return open;
}

async function lastEvent({ api }: Tenant): Promise<string> {
  for (let after = ''; ; ) {
    const page = await api.get(`/v1/events?limit=100${after === '' ? '' : `&after=${after}`}`);
    const last = itemsOf(page, 'events').at(-1);
    if (last) after = String(last.id);
    if (page.has_more !== true) return after;
  }
}
