import { plans } from '#contract/plans.ts';
import { createMagicLink } from '#server/accounts/magic-links/magic-link.ts';
import { simulatedNumbersChannel, unpublishedEventsChannel } from '#server/database/channels.ts';
import { deleteTeamRows } from '#server/database/delete-team-rows.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { insertRows } from '#server/database/tables.ts';
import { lockCurrentSession } from '#server/devices/device-store.ts';
import { listTakenPhoneNumbers, lockNumbersOfTeams } from '#server/numbers/number-store.ts';
import { AppError, conflict } from '#server/platform/app-error.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';
import { demoDomain } from '#server/platform/mail-address.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { listAccountsOnlyOf } from '#server/teams/members/members.ts';
import { findDemoTeam, findTestTeam, insertTeam, lockTeam, markAsDemo } from '#server/teams/team/team.ts';
import { lockUsage } from '#server/usage/usage.ts';
import { addEvents } from './demo-events.ts';
import { addContacts, addMessages } from './demo-messages.ts';
import { DemoRows } from './demo-rows.ts';

export interface FilledDemo {
  /** The team, as the API shows its id. */
  readonly id: string;
  readonly name: string;
  /** Signs in to the dashboard as the owner, once. */
  readonly url: string;
  readonly email: string;
  readonly expires_at: string;
  readonly messages: number;
}

const name = 'Brightside Dental (demo)';
const ownerEmail = `maya@${demoDomain}`;
const linkHours = 24;

/**
 * Makes the demo team with the messages of two weeks: rows of its tables, in one
 * transaction. Attempts of webhooks are rows only, and no mail is queued. Rows of the past need no clock in the past,
 * which would take 200 lines more, and all constraints hold for them. The table `demo_team` names the team: a mark in
 * each row would cost each send and page a look.
 * @throws AppError 409 if there is a demo team, or too few of its phone numbers are free
 */
export async function fillDemo(runtime: Runtime): Promise<FilledDemo> {
  const nowMs = runtime.clock.nowMs();
  return runtime.database.transaction(async (trx) => {
    const demo = new DemoRows(nowMs);
    const teamId = demo.named<'team'>('team');
    await insertTeam(trx, {
      id: teamId,
      name,
      plan: 'pro',
      monthly_message_limit: plans.pro.monthlyMessages,
      created_at: new Date(demo.startMs),
      test_of: null,
    });
    if (!(await markAsDemo(trx, { teamId }))) throw await demoExistsError(trx);
    demo.addTables(await freePhoneNumbers(trx, teamId));
    addMessages(demo, runtime);
    addEvents(demo, runtime);
    for (const [table, rows] of demo.tables) await insertRows(trx, table, rows);
    await addContacts(trx, demo);
    trx.notifyAfterCommit(simulatedNumbersChannel);
    trx.notifyAfterCommit(unpublishedEventsChannel);
    const { url, expiresAt } = await createMagicLink(
      trx,
      runtime,
      { id: demo.named('maya.account') },
      { hours: linkHours },
    );
    return {
      id: publicId('team', teamId),
      name,
      url,
      email: ownerEmail,
      expires_at: expiresAt.toISOString(),
      messages: demo.tables.get('messages')?.length ?? 0,
    };
  });
}

async function demoExistsError(trx: Transaction) {
  const present = await findDemoTeam(trx);
  return conflict(
    `There is a demo already${present ? `, ${publicId('team', present.id)}` : ''}. Sign in to it with ` +
      `\`${commandLine} link --email ${ownerEmail}\`, or remove it with \`${commandLine} demo --remove\`.`,
  );
}

/**
 * Fictional numbers that no team has verified. Their area code is neither that of the guides, whose numbers a reader
 * verifies next, nor that of the demo's contacts.
 */
async function freePhoneNumbers(trx: Transaction, teamId: TeamId): Promise<string[]> {
  const phoneNumbers = Array.from({ length: 50 }, (_, index) => `+16285550${index + 150}`);
  const taken = await listTakenPhoneNumbers(trx, { teamId, phoneNumbers });
  const free = phoneNumbers.filter((one) => !taken.some(({ phone_number }) => phone_number === one));
  if (free.length >= 4) return free;
  throw conflict(
    'A demo needs four of the numbers +16285550150 to +16285550199, and fewer are free. Release one with ' +
      `\`${commandLine} number release --phone-number +16285550150\`, and repeat the command.`,
  );
}

/**
 * Deletes the demo team with all its rows, its test team and its accounts. An account that is a member of another team
 * stays. The locks, in their usual order, make sends and simulated phones wait. When they go on, they find no team and
 * no number. A role that can write to `demo_team` can delete audit entries, but it is the one that owns their trigger.
 * @throws AppError 404 if there is no demo team
 */
export function removeDemo({ database }: Runtime) {
  return database.transaction(async (trx) => {
    const found = await findDemoTeam(trx);
    const team = found && (await lockTeam(trx, { teamId: found.id }));
    if (!team) throw new AppError('not_found', 'There is no demo team, so nothing was removed.');
    const testTeam = await findTestTeam(trx, { teamId: team.id });
    const teamIds = [team.id, ...(testTeam ? [testTeam.id] : [])];
    await lockUsage(trx, { teamIds });
    const numbers = await lockNumbersOfTeams(trx, { teamIds });
    for (const { team_id: teamId, id: numberId } of numbers)
      await lockCurrentSession(trx, { teamId, numberId });
    const rows = await deleteTeamRows(trx, {
      teams: teamIds,
      accounts: (await listAccountsOnlyOf(trx, { teamId: team.id, addresses: `%@${demoDomain}` })).map(
        (row) => row.account_id,
      ),
    });
    return { removed: true, id: publicId('team', team.id), rows };
  });
}
