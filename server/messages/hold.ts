/** Why a queued message is held. Its expiry stands still, except while it waits for an approval. */
export type Hold = 'approval' | 'outage' | 'restore';

/** SQL for the hold of a restore that no person has resumed; NULL without one. */
export const sqlRestoreHold = "(SELECT 'restore' FROM restores WHERE resumed_at IS NULL LIMIT 1)";

/**
 * SQL for the hold of a message of a team that joins the queue now. Until a restore is resumed, nothing goes. While held
 * messages of the team wait for their release, a new one is held, too, so that it overtakes none.
 */
export function sqlHoldOnJoin(teamId: string): string {
  return `coalesce(${sqlRestoreHold}, CASE WHEN EXISTS (SELECT FROM send_queue WHERE hold = 'restore')
    THEN (SELECT 'restore' FROM send_queue h WHERE h.hold = 'restore' AND h.team_id = ${teamId} LIMIT 1) END)`;
}
