import {
  type Home,
  type HomeNumber,
  homeCountMax,
  homeKeyChangesMax,
  homeNumberCountMax,
  type KeyChange,
  type SetupLinkState,
} from '#contract/home.ts';
import { allows, type Role } from '#contract/permissions.ts';
import { hasUsedKey } from '#server/api-keys/api-keys.ts';
import { query } from '#server/database/query.ts';
import { lagDays, readRetentionLags } from '#server/database/retention.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { anyText, inboundCoverageOf } from '#server/devices/inbound-tests.ts';
import type { Principal } from '#server/http/route.ts';
import { countFailedMessages, countWaitingMessages, hasSentMessage } from '#server/messages/message-store.ts';
import { likelyCause } from '#server/numbers/number-health.ts';
import {
  firstIdOfDay,
  listNumberFacts,
  listNumbers,
  type NumberFactsRow,
  type NumberListRow,
} from '#server/numbers/number-store.ts';
import { numberView } from '#server/numbers/number-view.ts';
import { firstIdAt, type Id, publicId, type TeamId } from '#server/platform/ids.ts';
import { getUsageSummary } from '#server/usage/usage.ts';
import { countWebhookHealth } from '#server/webhooks/endpoints/webhook-store.ts';

/*
 * Limits and periods of the Home page.
 */

/** The period in which failed messages are counted. */
const failedPeriodMs = 24 * 3_600_000;

/** The period in which changes of the team by API keys are shown. */
const keyChangePeriodMs = 7 * 24 * 3_600_000;

/** How many of the team's first messages, and of its latest ones, are searched for a message that a phone has sent. */
const firstRunMessagesMax = 1_000;

/** A change of the people or the name of a team by an API key, from the audit log. */
interface KeyChangeRow {
  readonly id: Id<'aud'>;
  readonly created_at: Date;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly action:
    | 'invitation.made'
    | 'invitation.sent_again'
    | 'member.role_changed'
    | 'member.removed'
    | 'team.renamed';
  /** `name` is the new name of the team. */
  readonly details: {
    readonly email?: string;
    readonly role?: Role;
    readonly before?: Role;
    readonly name?: string;
  };
  /** The member; null for an invitation and for a name. */
  readonly member_email: string | null;
  readonly member_name: string | null;
}

/** Lists the changes of a team by API keys, newest first. @param after only entries with larger ids are listed */
const listKeyChanges = query<{ teamId: TeamId; after: string; limit: number }, KeyChangeRow>(
  'home.key-changes',
  // The conditions are those of the index audit_log_of_home.
  `SELECT l.id, l.created_at, l.actor_id, l.actor_name, l.action, l.details, a.email AS member_email, a.name AS member_name
   FROM audit_log l LEFT JOIN accounts a ON a.id = l.account_id
   WHERE l.team_id = :teamId AND l.id > :after AND l.outcome = 'done' AND l.actor_kind = 'key'
     AND l.action IN ('invitation.made', 'invitation.sent_again', 'member.role_changed', 'member.removed', 'team.renamed')
   ORDER BY l.id DESC LIMIT :limit`,
).rows;

/**
 * Reads a team's state for the Home page. Each statement reads a limited number of rows.
 */
export async function getHome(
  services: Runtime,
  { teamId, permissions }: Pick<Principal, 'teamId' | 'permissions'>,
): Promise<Home> {
  const { database, clock, config } = services;
  const { pages, pool } = database;
  const failedAfter = clock.in(-failedPeriodMs);
  // The statements run one after the other, because each takes one of the process's few connections for pages.
  const numbers = await listHomeNumbers(services, teamId);
  const webhooks = await countWebhookHealth(pool, { teamId });
  return {
    waiting_messages: await countWaitingMessages(pages, { teamId, max: homeCountMax }),
    failed_last_day: await countFailedMessages(pages, { teamId, after: failedAfter, max: homeCountMax }),
    webhooks_failing: webhooks.failing,
    webhooks_disabled: webhooks.disabled,
    numbers,
    usage: await getUsageSummary(services, teamId),
    first_run: {
      has_number: numbers.some(({ verified }) => verified),
      has_delivered: await hasSentMessage(pages, { teamId, max: firstRunMessagesMax }),
      has_webhook: webhooks.total > 0,
      has_key_used: await hasUsedKey(pool, { teamId }),
    },
    retention_late_days: allows(permissions, 'audit:read')
      ? lagDays(await readRetentionLags(pool, config, clock.nowMs()))
      : 0,
    key_changes: allows(permissions, 'audit:read') ? await readKeyChanges(services, teamId) : [],
  };
}

/** The changes of the team by API keys of the last 7 days (specification section 5.3). */
async function readKeyChanges({ database, clock }: Runtime, teamId: TeamId): Promise<KeyChange[]> {
  const after = firstIdAt(clock.in(-keyChangePeriodMs).getTime());
  const rows = await listKeyChanges(database.pages, { teamId, after, limit: homeKeyChangesMax });
  return rows.map(({ details: { email, role = null, before = null, name }, ...row }) => ({
    id: publicId('aud', row.id),
    at: row.created_at.toISOString(),
    key_id: row.actor_id,
    key_name: row.actor_name,
    change: keyChangeNames[row.action],
    email: email ?? row.member_email ?? '',
    name: name ?? row.member_name ?? '',
    role,
    role_before: before,
  }));
}

const keyChangeNames: Readonly<Record<KeyChangeRow['action'], KeyChange['change']>> = {
  'invitation.made': 'invited',
  'invitation.sent_again': 'invited_again',
  'member.role_changed': 'role_changed',
  'member.removed': 'removed',
  'team.renamed': 'renamed',
};

async function listHomeNumbers({ database, clock }: Runtime, teamId: TeamId): Promise<HomeNumber[]> {
  const now = clock.now();
  const listed = await listNumbers(database.pool, { teamId, todayFirstId: firstIdOfDay(clock) });
  const asked = { teamId, now, waitingMax: homeNumberCountMax, numberIds: null };
  const facts = await listNumberFacts(database.pages, asked);
  const byId = new Map(facts.map((row) => [row.id, row]));
  return listed.flatMap((number) => homeNumber(number, byId.get(number.id), now));
}

/** A number that was deleted after the numbers were listed has no facts, and is left out. */
function homeNumber(number: NumberListRow, facts: NumberFactsRow | undefined, now: Date): HomeNumber[] {
  if (!facts) return [];
  const isPaused = facts.state !== 'pending' && number.status === 'paused';
  return [
    {
      ...numberView(number),
      state: isPaused ? 'paused' : facts.state,
      likely_cause: isPaused ? null : likelyCause(facts, now),
      setup_link: setupLinkState(facts),
      waiting_messages: facts.waiting_messages,
      oldest_waiting_at: facts.oldest_waiting_at?.toISOString() ?? null,
      inbound_coverage: inboundCoverageOf(number.received_tests ?? []),
      texts_received: textsReceived(number, facts),
    },
  ];
}

function textsReceived(number: NumberListRow, facts: NumberFactsRow): HomeNumber['texts_received'] {
  if (number.received_tests?.includes(anyText)) return 'this_phone';
  return facts.has_received ? 'earlier_phone' : 'never';
}

/** How far the number's latest setup link was used; null if the number has no setup link. */
function setupLinkState(facts: NumberFactsRow): SetupLinkState | null {
  if (facts.link_is_open === null) return null;
  if (facts.link_has_polled) return 'polled';
  if (facts.link_has_device) return 'claimed';
  return facts.link_is_open ? 'unopened' : 'ended';
}
