import type { PlanName } from '#contract/plans.ts';
import { type Queryable, statement, type Transaction } from '#server/database/statement.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

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

const insert = statement<[TeamId, string, PlanName, number, Date]>(
  'teams.insert',
  `INSERT INTO teams (id, name, plan, monthly_message_limit, created_at) VALUES ($1, $2, $3, $4, $5) RETURNING ${columns}`,
  { changes: 'team', team: '$1' },
);

const insertTestTeam = statement<[teamId: TeamId, testTeamId: TeamId]>(
  'teams.insert-test',
  'INSERT INTO test_teams (team_id, test_team_id) VALUES ($1, $2)',
);

export const findTeam = statement<[teamId: TeamId], TeamRow>(
  'teams.find',
  `SELECT ${columns} FROM teams WHERE id = $1`,
).row;

export const findTestTeam = statement<[teamId: TeamId], TeamRow>(
  'teams.find-test',
  `SELECT ${columns} FROM teams WHERE id = (SELECT test_team_id FROM test_teams WHERE team_id = $1)`,
).row;

/** Renames a team and its test team. */
export const setTeamName = statement<[teamId: TeamId, name: string], TeamRow>(
  'teams.rename',
  `WITH test AS (UPDATE teams SET name = $2 WHERE id = (SELECT test_team_id FROM test_teams WHERE team_id = $1))
   UPDATE teams SET name = $2 WHERE id = $1 RETURNING ${columns}`,
  {
    changes: 'team',
    team: '$1',
  },
).row;

/** Changes the plan of a team and of its test team, which has no monthly limit. */
export const setTeamPlan = statement<[teamId: TeamId, plan: PlanName, monthlyMessageLimit: number], TeamRow>(
  'teams.set-plan',
  `WITH test AS (UPDATE teams SET plan = $2 WHERE id = (SELECT test_team_id FROM test_teams WHERE team_id = $1))
   UPDATE teams SET plan = $2, monthly_message_limit = $3 WHERE id = $1 RETURNING ${columns}`,
  { changes: 'team', team: '$1' },
).row;

/** Lists all teams except test teams, oldest first. */
export const listTeams = statement<[], TeamRow>(
  'teams.list',
  `SELECT ${columns} FROM teams WHERE id NOT IN (SELECT test_team_id FROM test_teams) ORDER BY id`,
).rows;
const firstTwo = statement<[], TeamRow>(
  'teams.first-two',
  `SELECT ${columns} FROM teams
   WHERE id NOT IN (SELECT test_team_id FROM test_teams) AND id NOT IN (SELECT team_id FROM demo_team) ORDER BY id LIMIT 2`,
);

/** Marks a team as the demo (specification section 10.12). @returns false if there is a demo team */
export const markAsDemo = statement<[teamId: TeamId]>(
  'teams.mark-as-demo',
  'INSERT INTO demo_team (team_id) VALUES ($1) ON CONFLICT DO NOTHING',
).hasRow;

export const findDemoTeam = statement<[], TeamRow>(
  'teams.find-demo',
  `SELECT ${columns} FROM teams WHERE id = (SELECT team_id FROM demo_team)`,
).row;

/**
 * Locks a team, so that other changes of its resources wait. This lock is the first in the lock order
 * (docs/architecture.md).
 */
export const lockTeam = statement<[teamId: TeamId], TeamRow>(
  'teams.lock',
  `SELECT ${columns} FROM teams WHERE id = $1 FOR NO KEY UPDATE`,
).row;

/** True if any team exists that is no demo. */
export const anyTeamExists = statement(
  'teams.find-any',
  'SELECT id FROM teams WHERE id NOT IN (SELECT team_id FROM demo_team) LIMIT 1',
).hasRow;

/** Locks the table teams, so that no other transaction creates a team until the caller's commit. */
export async function lockTeams(trx: Transaction): Promise<void> {
  await trx.query('LOCK TABLE teams IN SHARE ROW EXCLUSIVE MODE');
}

export async function insertTeam(db: Queryable, team: TeamRow): Promise<void> {
  const { id, name, plan, monthly_message_limit: limit, created_at: createdAt, test_of: testOf } = team;
  await insert.run(db, id, name, plan, limit, createdAt);
  if (testOf !== null) await insertTestTeam.run(db, testOf, id);
}

/** Finds the oldest team, which the first start created for the operator; never a demo. */
export async function findFirstTeam(db: Queryable): Promise<TeamRow | undefined> {
  return (await firstTwo.rows(db))[0];
}

/** Finds the only team of the server besides demos; undefined if there are several teams, or none. */
export async function findOnlyTeam(db: Queryable): Promise<TeamRow | undefined> {
  const [team, another] = await firstTwo.rows(db);
  return another ? undefined : team;
}
