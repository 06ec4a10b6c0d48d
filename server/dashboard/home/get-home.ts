import { type Home, type HomeNumber, homeCountMax, homeNumberCountMax } from '#contract/home.ts';
import { hasUsedKey } from '#server/api-keys/api-key-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { inboundCoverageOf } from '#server/devices/inbound-tests.ts';
import {
  countFailedMessages,
  countWaitingMessages,
  hasSentMessage,
} from '#server/messages/message-counts-store.ts';
import { firstIdOfDay, listNumbers, type NumberListRow } from '#server/numbers/number-store.ts';
import { numberView } from '#server/numbers/number-view.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { getUsageSummary } from '#server/usage/get-usage-summary.ts';
import { countWebhookHealth } from '#server/webhooks/endpoints/webhook-store.ts';
import { listNumberFacts, type NumberFactsRow } from './home-store.ts';
import { failedPeriodMs, firstRunMessagesMax } from './limits.ts';
import { type LatestLink, numberState, setupLinkState } from './number-state.ts';

/** Reads the state of a team for the Home page (specification section 12.10). Each statement reads a bounded number of rows. */
export async function getHome(services: Pick<Runtime, 'database' | 'clock'>, teamId: TeamId): Promise<Home> {
  const { database, clock } = services;
  const { pages, pool } = database;
  const now = clock.now();
  const failedAfter = clock.in(-failedPeriodMs);
  // One after the other: a page takes one of the process's connections at a time.
  const numbers = await listHomeNumbers(services, teamId, now);
  const webhooks = await countWebhookHealth(pool, teamId);
  return {
    waiting_messages: await countWaitingMessages(pages, teamId, homeCountMax),
    failed_last_day: await countFailedMessages(pages, teamId, failedAfter, homeCountMax),
    webhooks_failing: webhooks.failing,
    webhooks_disabled: webhooks.disabled,
    numbers,
    usage: await getUsageSummary(services, teamId),
    first_run: {
      has_number: numbers.some(({ verified }) => verified),
      has_delivered: await hasSentMessage(pages, teamId, firstRunMessagesMax),
      has_webhook: webhooks.total > 0,
      has_key_used: await hasUsedKey(pool, teamId),
    },
  };
}

async function listHomeNumbers(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  teamId: TeamId,
  now: Date,
): Promise<HomeNumber[]> {
  const listed = await listNumbers(database.pool, teamId, firstIdOfDay(clock));
  const facts = await listNumberFacts(database.pages, teamId, now, homeNumberCountMax);
  const byId = new Map(facts.map((row) => [row.id, row]));
  return listed.map((number) => homeNumber(number, byId.get(number.id), now));
}

/** @param facts undefined for a number that was deleted after the first statement */
function homeNumber(number: NumberListRow, facts: NumberFactsRow | undefined, now: Date): HomeNumber {
  const latestLink = latestLinkOf(facts);
  const { state, cause } = numberState(
    {
      status: number.status,
      isVerified: number.verified_at !== null,
      lastSeenAt: number.last_seen_at,
      latestLink,
    },
    now,
  );
  return {
    ...numberView(number),
    state,
    likely_cause: cause,
    setup_link: setupLinkState(latestLink),
    waiting_messages: facts?.waiting_messages ?? 0,
    oldest_waiting_at: facts?.oldest_waiting_at?.toISOString() ?? null,
    inbound_coverage: inboundCoverageOf(number.received_tests ?? []),
  };
}

function latestLinkOf(facts: NumberFactsRow | undefined): LatestLink | null {
  if (facts?.link_is_open == null) return null;
  return {
    isOpen: facts.link_is_open,
    hasDevice: facts.link_has_device ?? false,
    hasPolled: facts.link_has_polled ?? false,
  };
}
