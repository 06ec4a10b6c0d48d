import { Type } from 'typebox';
import { nullable, strictObject, timestamp } from './schema.ts';

/** The highest exact count of waiting messages, deliveries or mails; `heldCountMax` + 1 means that there are more. */
export const heldCountMax = 10_000;

const count = Type.Integer({ minimum: 0, maximum: heldCountMax + 1 });

/** Counts of the work of all teams that waited in the backup when it was restored. */
export const HeldCounts = Type.Object({ messages: count, deliveries: count, mails: count });
export type HeldCounts = Type.Static<typeof HeldCounts>;

export const RestoreState = Type.Object({
  held: Type.Boolean(),
  restored_at: nullable(timestamp('When the backup was restored; null if there is no restore hold.')),
  backup_taken_at: nullable(timestamp('When the backup was taken; null if there is no restore hold.')),
  may_resume: Type.Boolean(),
  waiting: nullable(HeldCounts),
});
export type RestoreState = Type.Static<typeof RestoreState>;

/** Ends the restore hold: waiting messages and deliveries go out, unless this request cancels or skips them. */
export const ResumeRequest = strictObject({
  cancel_messages: Type.Optional(Type.Boolean()),
  skip_deliveries: Type.Optional(Type.Boolean()),
});
export type ResumeRequest = Type.Static<typeof ResumeRequest>;
