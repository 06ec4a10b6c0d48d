import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { setupLinkRetentionMs } from './limits.ts';

const batchMax = 1_000;

/** Maximum number of batches in one round; the next round continues. */
const batchesMax = 100;

// Links with a device token stay, because the token's row refers to them.
const purge = statement<[Date, number], { readonly id: string }>(
  'devices.purge-setup-links',
  `DELETE FROM setup_links WHERE (team_id, id) IN (
     SELECT l.team_id, l.id FROM setup_links l
     WHERE l.expires_at < $1
       AND NOT EXISTS (SELECT FROM devices d WHERE d.team_id = l.team_id AND d.setup_link_id = l.id)
     LIMIT $2 FOR UPDATE SKIP LOCKED
   ) RETURNING id`,
);

/** Deletes setup links that no phone used, 30 days after they expired (specification section 4.2). */
export async function purgeSetupLinks({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const rows = await purge.rows(database.pool, clock.in(-setupLinkRetentionMs), batchMax);
    if (rows.length < batchMax) return;
  }
}
