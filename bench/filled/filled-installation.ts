import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { putNumber } from '#test/support/numbers/given-numbers.ts';
import { newMember } from '#test/support/people/people.ts';
import { openInstallation, type Setup } from '../life/installation.ts';
import { seed, seedConversations } from '../retention/seed.ts';
import { unlimited } from '../serve.ts';
import { firstTeam, newTeam } from '../teams.ts';

/** Disk space of a message with its hand-out, event, delivery and attempt, and their indexes, while it is written. */
const bytesOfMessage = 2_500;

const dayMs = 86_400_000;

/** A service whose database has messages of many teams. */
export type Filled = Awaited<ReturnType<typeof openFilled>>;

/** @throws Error if the disk has too little free space for so many messages */
export async function requireSpace(messages: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const gb = (bytes: number) => `${Math.ceil(bytes / 1e9)} GB`;
  const [free, needed] = [bavail * bsize, messages * bytesOfMessage];
  if (free < needed)
    throw new Error(
      `${tmpdir()} has ${gb(free)} free, and ${messages} messages take ${gb(needed)}: set TMPDIR to a larger disk, or fill with fewer.`,
    );
}

/** Writes messages of the teams in turn, of the last eight weeks. */
export async function openFilled(setup: Setup, teams: number, messages: number) {
  const installation = await openInstallation(setup);
  const { dataDir, database, server, servers } = installation;
  const databaseUrl = await findEngineUrl(dataDir);
  const runtime = await servers.openRuntime(unlimited(dataDir));
  const { close } = installation;
  try {
    const { clock } = runtime;
    const query = async <T>(sql: string, values?: readonly unknown[]) =>
      (await database.query(sql, values && [...values])).rows as T[];
    const first = await firstTeam(runtime);
    for (let n = 1; n < teams; n += 1) {
      const { id } = await newTeam(runtime, `Team ${n}`);
      await putNumber({ runtime, clock, query }, id, `+1415557${String(n).padStart(4, '0')}`);
    }
    const now = clock.now();
    const middle = clock.in(-28 * dayMs);
    const ages = [
      { from: clock.in(-56 * dayMs), to: middle, messages: messages / 2 },
      { from: middle, to: now, messages: messages / 2 },
    ];
    await Promise.all(
      ages.map(async (age) => {
        const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
        await seed(pool, age).finally(() => pool.end());
      }),
    );
    await seedConversations(database);
    await database.query('VACUUM ANALYZE');
    const member = await newMember({ baseUrl: server.origin, runtime }, first, 'member');
    return { installation, member, close };
  } catch (error) {
    await close();
    throw error;
  }
}
