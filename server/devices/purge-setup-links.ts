import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { setupLinkRetentionMs } from './limits.ts';

const batchMax = 1_000;

/** Maximum number of batches in one round; the next round continues. */
const batchesMax = 100;

// Links with a device token stay, because the token's row refers to them.
const purge = query<{ before: Date; limit: number }>(
  'devices.purge-setup-links',
  `DELETE FROM setup_links WHERE (team_id, id) IN (
     SELECT l.team_id, l.id FROM setup_links l
     WHERE l.expires_at < :before
       AND NOT EXISTS (SELECT FROM devices d WHERE d.team_id = l.team_id AND d.setup_link_id = l.id)
     LIMIT :limit FOR UPDATE SKIP LOCKED
   )`,
).count;

/** Deletes setup links that no phone used, 30 days after they expired (specification section 4.2). */
export async function purgeSetupLinks({ database, clock }: Runtime): Promise<void> {
  const batch = { before: clock.in(-setupLinkRetentionMs), limit: batchMax };
  for (let batches = 0; batches < batchesMax; batches += 1)
    if ((await purge(database.pool, batch)) < batchMax) return;
}
