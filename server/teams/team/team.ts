import { randomInt } from 'node:crypto';
import { type PlanName, plans } from '#contract/plans.ts';
import type { Team } from '#contract/team.ts';
import { validateName } from '#server/accounts/account/account.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { runHooks } from '#server/database/hooks.ts';
import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';

export interface TeamRow {
  readonly id: TeamId;
  readonly name: string;
  readonly plan: PlanName;
  readonly monthly_message_limit: number;
  readonly created_at: Date;
  /** The team to which a test team belongs (decision 0042); null for every other team. */
  readonly test_of: TeamId | null;
}

const columns = `id, name, plan, monthly_message_limit, created_at,
  (SELECT s.team_id FROM test_teams s WHERE s.test_team_id = teams.id) AS test_of`;

const insertWithRoute = query<TeamRow & { route: string }>(
  'teams.insert',
  `INSERT INTO teams (id, name, plan, monthly_message_limit, created_at, route)
   VALUES (:id, :name, :plan, :monthly_message_limit, :created_at, :route)
   ON CONFLICT (route) DO NOTHING RETURNING ${columns}`,
  { changes: 'team', team: ':id' },
).hasRow;

const insertTestTeam = query<{ teamId: TeamId; testTeamId: TeamId }>(
  'teams.insert-test',
  'INSERT INTO test_teams (team_id, test_team_id) VALUES (:teamId, :testTeamId)',
).run;

export const findTeam = query<{ teamId: TeamId }, TeamRow>(
  'teams.find',
  `SELECT ${columns} FROM teams WHERE id = :teamId`,
).row;

export const findTestTeam = query<{ teamId: TeamId }, TeamRow>(
  'teams.find-test',
  `SELECT ${columns} FROM teams WHERE id = (SELECT test_team_id FROM test_teams WHERE team_id = :teamId)`,
).row;

/** Renames a team and its test team. */
export const setTeamName = query<{ teamId: TeamId; name: string }, TeamRow>(
  'teams.rename',
  `WITH test AS (UPDATE teams SET name = :name WHERE id = (SELECT test_team_id FROM test_teams WHERE team_id = :teamId))
   UPDATE teams SET name = :name WHERE id = :teamId RETURNING ${columns}`,
  { changes: 'team', team: ':teamId' },
).row;

/** Changes the plan of a team and of its test team, which has no monthly limit. */
export const setTeamPlan = query<{ teamId: TeamId; plan: PlanName; monthlyMessageLimit: number }, TeamRow>(
  'teams.set-plan',
  `WITH test AS (UPDATE teams SET plan = :plan WHERE id = (SELECT test_team_id FROM test_teams WHERE team_id = :teamId))
   UPDATE teams SET plan = :plan, monthly_message_limit = :monthlyMessageLimit WHERE id = :teamId RETURNING ${columns}`,
  { changes: 'team', team: ':teamId' },
).row;

/** SQL: the routing tag of a team's keys and phones. A test team has the tag of its live team (decision 0051). */
export const sqlRoute = (teamId: string) =>
  `(SELECT route FROM teams WHERE id = coalesce((SELECT team_id FROM test_teams WHERE test_team_id = ${teamId}), ${teamId}))`;

const findRoute = query<{ teamId: TeamId }, { route: string | null }>(
  'teams.find-route',
  `SELECT ${sqlRoute(':teamId')} AS route`,
).one;

/** Lists all teams except test teams, with their routing tags, oldest first. */
export const listTeams = query<object, TeamRow & { route: string }>(
  'teams.list',
  `SELECT ${columns}, route FROM teams WHERE id NOT IN (SELECT test_team_id FROM test_teams) ORDER BY id`,
).rows;

const firstTwo = query<object, TeamRow>(
  'teams.first-two',
  `SELECT ${columns} FROM teams
   WHERE id NOT IN (SELECT test_team_id FROM test_teams) AND id NOT IN (SELECT team_id FROM demo_team) ORDER BY id LIMIT 2`,
).rows;

/** Marks a team as the demo. @returns false if there is a demo team */
export const markAsDemo = query<{ teamId: TeamId }>(
  'teams.mark-as-demo',
  'INSERT INTO demo_team (team_id) VALUES (:teamId) ON CONFLICT DO NOTHING',
).hasRow;

export const findDemoTeam = query<object, TeamRow>(
  'teams.find-demo',
  `SELECT ${columns} FROM teams WHERE id = (SELECT team_id FROM demo_team)`,
).row;

/**
 * Locks a team, so that other changes of its resources wait. This lock is the first in the lock order
 * (docs/internals/locks.md).
 */
export const lockTeam = transactionQuery<{ teamId: TeamId }, TeamRow>(
  'teams.lock',
  `SELECT ${columns} FROM teams WHERE id = :teamId FOR NO KEY UPDATE`,
).row;

/** True if any team except the demo exists. */
export const anyTeamExists = query(
  'teams.find-any',
  'SELECT id FROM teams WHERE id NOT IN (SELECT team_id FROM demo_team) LIMIT 1',
).hasRow;

/** Locks the table teams, so that no other transaction creates a team until the caller's commit. */
export async function lockTeams(trx: Transaction): Promise<void> {
  await trx.query('LOCK TABLE teams IN SHARE ROW EXCLUSIVE MODE');
}

/**
 * Generates a routing tag: 4 random characters of a-z and 0-9, valid as a label of a host name (specification section
 * 5.5). One character is a digit, so that no tag is a word or an ordinary host name such as `mail`.
 */
export function newRoutingTag(): string {
  const tag = Array.from({ length: 4 }, () => randomInt(36).toString(36)).join('');
  return /\d/.test(tag) ? tag : newRoutingTag();
}

/** How many routing tags are tried. If a tenth of all tags is taken, all tries fail for one in 10^20 teams. */
const routingTagTries = 20;

/** Inserts a team with a routing tag of its own. */
export async function insertTeam(db: Queryable, team: TeamRow, nextTag = newRoutingTag): Promise<void> {
  let tries = 1;
  // If the tag is taken, no row is inserted. Unlike an error, that leaves the transaction usable.
  while (!(await insertWithRoute(db, { ...team, route: nextTag() }))) {
    if (tries === routingTagTries) throw new Error(`${routingTagTries} routing tags in a row were taken`);
    tries += 1;
  }
  if (team.test_of !== null) await insertTestTeam(db, { teamId: team.test_of, testTeamId: team.id });
}

/** Finds the routing tag of a team's keys and phones. @throws 404 if there is no such team */
export async function getRoutingTag(db: Queryable, teamId: TeamId): Promise<string> {
  const { route } = await findRoute(db, { teamId });
  if (route === null) throw notFound('team');
  return route;
}

/** Finds the oldest team, which the first start created for the operator; never a demo. */
export async function findFirstTeam(db: Queryable): Promise<TeamRow | undefined> {
  return (await firstTwo(db))[0];
}

/** Finds the only team of the server besides demos; undefined if there are several teams, or none. */
export async function findOnlyTeam(db: Queryable): Promise<TeamRow | undefined> {
  const [team, another] = await firstTwo(db);
  return another ? undefined : team;
}

export function teamView(team: TeamRow): Team {
  return {
    id: publicId('team', team.id),
    name: team.name,
    plan: team.plan,
    monthly_message_limit: team.monthly_message_limit,
    created_at: team.created_at.toISOString(),
    ...(team.test_of === null ? {} : { test: true as const }),
  };
}

interface NewTeam {
  readonly name: string;
  readonly plan: PlanName;
  readonly by: AuditActor;
}

/** Creates a team with the limits of its plan (specification section 8). @throws 400 for the name */
export async function createTeam(trx: Transaction, services: Runtime, { name, plan, by }: NewTeam) {
  validateName(name);
  const team: TeamRow = {
    id: services.ids.next('team'),
    name,
    plan,
    monthly_message_limit: plans[plan].monthlyMessages,
    created_at: services.clock.now(),
    test_of: null,
  };
  await insertTeam(trx, team);
  await recordAudit(trx, services, {
    by,
    action: 'team.created',
    teamId: team.id,
    details: { name, plan },
  });
  return team;
}

/**
 * Returns the test team of a team, and creates it for the first test key (specification section 5.4, decision 0042). It
 * has the team's plan, and the largest monthly limit: test messages do not use up any month. @throws 404
 */
export async function ensureTestTeam(trx: Transaction, services: Runtime, teamId: TeamId): Promise<TeamId> {
  const team = await lockTeam(trx, { teamId });
  if (!team || team.test_of !== null) throw notFound('team');
  const found = await findTestTeam(trx, { teamId });
  if (found) return found.id;
  const testTeam: TeamRow = {
    id: services.ids.next('team'),
    name: team.name,
    plan: team.plan,
    monthly_message_limit: plans.enterprise.monthlyMessages,
    created_at: services.clock.now(),
    test_of: teamId,
  };
  await insertTeam(trx, testTeam);
  await runHooks(trx, services, 'testTeamCreated', { teamId: testTeam.id });
  return testTeam.id;
}
