import { Type } from 'typebox';
import { resourceTypes } from './change.ts';
import { strictObject, stringEnum, timestamp } from './schema.ts';

/* The live stream of a team: server-sent events of `GET /app/teams/:team_id/live`. An
   event's name selects the schema of its JSON data. */

const resources = Type.Array(stringEnum(resourceTypes));

/** `hello` comes first, and again when the member's role changed. The client then reads everything again. */
export const LiveHello = strictObject({
  resources: Type.Array(stringEnum(resourceTypes), {
    description: 'The resource types that the member may read. The stream sends changes of these.',
  }),
  at: timestamp('The time of the server.'),
});
export type LiveHello = Type.Static<typeof LiveHello>;

/** `changed` names resource types of `hello` that may have changed. The client reads again what it shows of these. */
export const LiveChanged = strictObject({ resources });
export type LiveChanged = Type.Static<typeof LiveChanged>;

/** `reload`: changes may have been missed. The client reads again everything that it shows. */
export const LiveReload = strictObject({});
export type LiveReload = Type.Static<typeof LiveReload>;

const liveEndReasons = ['signed_out', 'no_access'] as const;
export type LiveEndReason = (typeof liveEndReasons)[number];

/** `ended` is the last event: the person is signed out or left the team. The client closes the stream. */
export const LiveEnded = strictObject({ reason: stringEnum(liveEndReasons) });
export type LiveEnded = Type.Static<typeof LiveEnded>;

/** Events of the live stream by name. A client reopens a stream that ends without `ended`, after its `retry` time. */
export interface LiveEvents {
  readonly hello: LiveHello;
  readonly changed: LiveChanged;
  readonly reload: LiveReload;
  readonly ended: LiveEnded;
}
export type LiveEventName = keyof LiveEvents;
