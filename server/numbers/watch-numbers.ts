import { homeNumberCountMax } from '#contract/home.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { appendEvents } from '#server/events/append-events.ts';
import { isMailEnabled, queueMails } from '#server/mail/queue-mail.ts';
import { publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { listEmailsOf } from '#server/teams/members/member-store.ts';
import { findTeam } from '#server/teams/team/team-store.ts';
import { healthMails } from './health-mails.ts';
import { listNumberFacts } from './number-facts-store.ts';
import {
  type HealthChangeRow,
  listTeamsToMail,
  listTeamsWithHealthChanges,
  markHealthMailed,
  recordHealthChanges,
} from './number-health-store.ts';

type Services = Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets' | 'logger'>;

/** Teams that one round handles; the next round continues. */
const roundTeamsMax = 500;

/**
 * Watches the health of all numbers (specification section 4.7). Each change commits with its event, once for all
 * processes. The mail follows a minute later, in a separate transaction that marks the numbers in the mail.
 */
export async function watchNumbers(services: Services): Promise<void> {
  const { database, clock, config } = services;
  const changed = await listTeamsWithHealthChanges(database.pool, clock.now(), roundTeamsMax);
  await eachTeam(services, changed, reportChanges);
  if (!isMailEnabled(config)) return;
  const due = await listTeamsToMail(database.pool, clock.now(), roundTeamsMax);
  await eachTeam(services, due, mailChanges);
}

type TeamWork = (trx: Transaction, services: Services, teamId: TeamId) => Promise<void>;

/** Runs work for each team. A failure does not delay the other teams; the next round tries the failed one again. */
async function eachTeam(
  services: Services,
  teams: readonly { readonly team_id: TeamId }[],
  work: TeamWork,
): Promise<void> {
  for (const { team_id: teamId } of teams) {
    try {
      await services.database.transaction((trx) => work(trx, services, teamId));
    } catch (error) {
      services.logger.error(
        { err: error, teamId: publicId('team', teamId) },
        'reporting that iPhones went offline or came back failed; it is tried again',
      );
    }
  }
}

const reportChanges: TeamWork = async (trx, services, teamId) => {
  await appendHealthEvents(
    trx,
    services,
    teamId,
    await recordHealthChanges(trx, teamId, services.clock.now()),
  );
};

/** Writes the events of numbers that went offline or came back. */
async function appendHealthEvents(
  trx: Transaction,
  services: Pick<Runtime, 'clock' | 'ids'>,
  teamId: TeamId,
  changes: readonly HealthChangeRow[],
): Promise<void> {
  await appendEvents(
    trx,
    services,
    changes.map((number) => ({
      type: `number.${number.state}` as const,
      teamId,
      numberId: number.id,
      sequence: number.sequence,
      data: {
        id: publicId('num', number.id),
        phone_number: number.phone_number,
        label: number.label,
        last_seen_at: number.last_seen_at.toISOString(),
        queued: number.queued,
      },
    })),
  );
}

const mailChanges: TeamWork = async (trx, services, teamId) => {
  const now = services.clock.now();
  const marked = await markHealthMailed(trx, teamId, now);
  if (marked.length === 0) return;
  const states = new Map(marked.map(({ number_id, state }) => [number_id, state]));
  const facts = await listNumberFacts(trx, teamId, {
    now,
    waitingMax: homeNumberCountMax,
    numberIds: [...states.keys()],
  });
  const team = await findTeam(trx, teamId);
  const messages = healthMails({
    team: {
      name: team?.name ?? '',
      page: `${services.config.appUrl}/teams/${publicId('team', teamId)}/numbers`,
    },
    offline: facts.filter(({ id }) => states.get(id) === 'offline'),
    online: facts.filter(({ id }) => states.get(id) === 'online'),
    queueExpiryMs: services.config.queueExpiryMs,
    now,
  });
  await queueMails(trx, services, await listEmailsOf(trx, teamId, 'owner', 'admin'), ...messages);
};
