import { Type } from 'typebox';
import { nullable, strictObject, stringEnum, timestamp } from './schema.ts';

/** The highest exact count of waiting messages, deliveries or mails; `heldCountMax` + 1 means that there are more. */
export const heldCountMax = 10_000;

const count = Type.Integer({ minimum: 0, maximum: heldCountMax + 1 });

/** Counts of the work of all teams that waited in the backup when it was restored, or at a failover that lost commits. */
export const HeldCounts = Type.Object({ messages: count, deliveries: count, mails: count });
export type HeldCounts = Type.Static<typeof HeldCounts>;

export const RestoreState = Type.Object({
  held: Type.Boolean(),
  reason: nullable(stringEnum(['restore', 'outage'])),
  held_at: nullable(timestamp('When the backup was restored or the hold began; null if nothing is held.')),
  backup_taken_at: nullable(timestamp('When the backup was taken; null without a restore.')),
  may_resume: Type.Boolean(),
  waiting: nullable(HeldCounts),
});
export type RestoreState = Type.Static<typeof RestoreState>;

/** Ends the hold: waiting messages and deliveries go out, unless this request cancels or skips them. */
export const ResumeRequest = strictObject({
  cancel_messages: Type.Optional(Type.Boolean()),
  skip_deliveries: Type.Optional(Type.Boolean()),
});
export type ResumeRequest = Type.Static<typeof ResumeRequest>;
