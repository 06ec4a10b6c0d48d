/* Limits and periods of teams and invitations (specification section 3.5). */

export const invitationMs = 7 * 24 * 3_600_000;

/** Limits of invitation mails per hour: to one address by all teams together, and by one team. */
export const invitationMailsPerAddressAndHour = 5;

export const invitationMailsPerTeamAndHour = 100;

/** How many changes of a team's people or name its API keys may make per hour; owners get a mail about each. */
export const keyChangesPerTeamAndHour = 100;

/** Retention of ended invitations (accepted, revoked or expired). It is short, because they name people. */
export const endedInvitationRetentionMs = 30 * 24 * 3_600_000;

/** Time after the first submit in which a second one counts as a double submit. */
export const doubleSubmitMs = 60_000;
