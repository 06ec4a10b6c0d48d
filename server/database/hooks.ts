import type { Role } from '#contract/permissions.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import type { MemberId, NumberId, TeamId } from '#server/platform/ids.ts';
import type { Transaction } from './query.ts';

/**
 * Events of a slice on which other slices act in the same transaction, each with its data. The slice may not import
 * those slices.
 */
export interface HookEvents {
  /** database: the service's time steps ahead, so that leases from before would end early. */
  readonly clockStepped: { readonly now: Date; readonly byMs: number };
  /** teams: a test team was created for the first test key of a team. */
  readonly testTeamCreated: { readonly teamId: TeamId };
  /** teams: a membership ended. */
  readonly memberRemoved: {
    readonly teamId: TeamId;
    readonly memberId: MemberId;
    /** Whether to revoke the API keys that the member created. */
    readonly revokeKeys: boolean;
    readonly by: AuditActor;
  };
  /** teams: a member has another role. */
  readonly roleChanged: {
    readonly teamId: TeamId;
    readonly memberId: MemberId;
    readonly role: Role;
    readonly by: AuditActor;
  };
  /** numbers: a number was deleted. The team's usage is locked. */
  readonly numberRemoved: { readonly teamId: TeamId; readonly numberId: NumberId };
  /** opt-outs: a contact opted out by request. The team's usage is locked. */
  readonly optedOut: { readonly teamId: TeamId; readonly contact: string };
  /** erasure: the erasure of a contact begins. @param handles all spellings of the contact */
  readonly contactErased: { readonly teamId: TeamId; readonly handles: readonly string[] };
}

/** Transaction hooks: the effects of each event, in their order. */
export type Effects<Services> = {
  readonly [Name in keyof HookEvents]: readonly ((
    trx: Transaction,
    event: HookEvents[Name],
    services: Services,
  ) => Promise<void>)[];
};

/** Runs the effects of an event in its transaction, so that they commit with their cause. */
export async function runHooks<
  Name extends keyof HookEvents,
  Services extends { readonly effects: Effects<Services> },
>(trx: Transaction, services: Services, name: Name, event: HookEvents[Name]): Promise<void> {
  for (const effect of services.effects[name]) await effect(trx, event, services);
}
