import type { Role } from '#contract/permissions.ts';
import { statement } from '#server/database/statement.ts';
import type { Id, TeamId } from '#server/platform/ids/ids.ts';

/** A change of the people or the name of a team by an API key, from the audit log. */
export interface KeyChangeRow {
  readonly id: Id<'aud'>;
  readonly created_at: Date;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly action:
    | 'invitation.made'
    | 'invitation.sent_again'
    | 'member.role_changed'
    | 'member.removed'
    | 'team.renamed';
  /** `name` is the new name of the team. */
  readonly details: {
    readonly email?: string;
    readonly role?: Role;
    readonly before?: Role;
    readonly name?: string;
  };
  /** The member; null for an invitation and for a name. */
  readonly member_email: string | null;
  readonly member_name: string | null;
}

/** Lists the changes of a team by API keys, newest first. @param after only entries with larger ids are listed */
export const listKeyChanges = statement<[teamId: TeamId, after: string, limit: number], KeyChangeRow>(
  'home.key-changes',
  // The conditions are those of the index audit_log_of_home.
  `SELECT l.id, l.created_at, l.actor_id, l.actor_name, l.action, l.details, a.email AS member_email, a.name AS member_name
   FROM audit_log l LEFT JOIN accounts a ON a.id = l.account_id
   WHERE l.team_id = $1 AND l.id > $2 AND l.outcome = 'done' AND l.actor_kind = 'key'
     AND l.action IN ('invitation.made', 'invitation.sent_again', 'member.role_changed', 'member.removed', 'team.renamed')
   ORDER BY l.id DESC LIMIT $3`,
).rows;
