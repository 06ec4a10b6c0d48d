import type { EventType } from '#contract/event.ts';
import { type EventId, publicId, type TeamId } from '#server/platform/ids/ids.ts';

/** The columns of an event that its envelope has. They never change; but an erasure rewrites `data`. */
export interface EnvelopeColumns {
  readonly team_id: TeamId;
  readonly id: EventId;
  readonly type: EventType;
  readonly sequence: number;
  readonly created_at: Date;
  /** JSON, serialised once, when the event was written. */
  readonly data: string;
}

/**
 * The body of each attempt to deliver an event (specification section 6.2). All attempts have the same bytes, also
 * those of later releases: fields are neither added here nor moved (decision 0035).
 */
export function envelopeOf({ team_id, id, type, sequence, created_at, data }: EnvelopeColumns): string {
  const head = `"id":"${publicId('evt', id)}","type":"${type}","timestamp":"${created_at.toISOString()}"`;
  const tail = `"team_id":"${publicId('team', team_id)}","api_version":"v1","sequence":${sequence}`;
  return `{${head},"data":${data},${tail}}`;
}
