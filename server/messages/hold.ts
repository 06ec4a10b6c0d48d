/** Why a queued message is held. Its expiry stands still, except while it waits for an approval. */
export type Hold = 'approval' | 'outage' | 'restore';

/** SQL for the hold of a message that joins the queue now: until a restore is resumed, nothing goes. */
export const sqlHoldOnJoin = "(SELECT 'restore' FROM restores WHERE resumed_at IS NULL LIMIT 1)";
