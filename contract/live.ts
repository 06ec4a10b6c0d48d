import { Type } from 'typebox';
import { resourceTypes } from './change.ts';
import { ConversationFacts } from './conversation.ts';
import { ListedMessage } from './message.ts';
import { NumberResource } from './number.ts';
import { strictObject, stringEnum, timestamp } from './schema.ts';
import { UsageSummary } from './usage.ts';

/*
 * The live stream of a team: server-sent events of `GET /app/teams/:team_id/live` (specification section 12.9). Each
 * event has one of these names, and its data is JSON of the schema of that name.
 */

const resources = Type.Array(stringEnum(resourceTypes));

/** `hello`: the first event, and again when the role of the member changed. Read what the page shows after it. */
export const LiveHello = strictObject({
  resources: Type.Array(stringEnum(resourceTypes), {
    description: 'The resource types that the member may read, and whose changes the stream tells of.',
  }),
  at: timestamp('The time of the server.'),
});
export type LiveHello = Type.Static<typeof LiveHello>;

/** `rows`: rows that are new or changed, as the lists show them. They replace those with the same id. */
export const LiveRows = strictObject({
  messages: Type.Array(ListedMessage, { description: 'Newest first.' }),
  conversations: Type.Array(ConversationFacts, {
    description: 'Those of the messages, the latest activity first; what a member has read is not in them.',
  }),
  numbers: Type.Array(NumberResource),
  numbers_complete: Type.Boolean({
    description: 'true where numbers are all of the team: others on the page were deleted.',
  }),
  removed_numbers: Type.Array(Type.String(), { description: 'Ids of numbers that were deleted.' }),
  usage: Type.Optional(UsageSummary),
});
export type LiveRows = Type.Static<typeof LiveRows>;

/** `changed`: something of these types changed, or may have. Read again what the page shows of them. */
export const LiveChanged = strictObject({ resources });
export type LiveChanged = Type.Static<typeof LiveChanged>;

/** `reload`: changes may have been missed. Read again everything that the page shows. */
export const LiveReload = strictObject({});
export type LiveReload = Type.Static<typeof LiveReload>;

const liveEndReasons = ['signed_out', 'no_access'] as const;
export type LiveEndReason = (typeof liveEndReasons)[number];

/** `ended`: the last event. The person is signed out, or is no member of the team any more: close the stream. */
export const LiveEnded = strictObject({ reason: stringEnum(liveEndReasons) });
export type LiveEnded = Type.Static<typeof LiveEnded>;

/** The events by their names. A stream that ends without `ended` is to be opened again after its `retry` time. */
export interface LiveEvents {
  readonly hello: LiveHello;
  readonly rows: LiveRows;
  readonly changed: LiveChanged;
  readonly reload: LiveReload;
  readonly ended: LiveEnded;
}
export type LiveEventName = keyof LiveEvents;
