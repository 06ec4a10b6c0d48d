import { numbersOfPhoneMax } from './limits.ts';

/** SQL of the numbers that a team has connected for a phone number, latest first, including deleted ones. */
export function sqlNumbersOfPhone(teamId: string, phoneNumber: string): string {
  return `SELECT s.* FROM numbers s WHERE s.team_id = ${teamId} AND s.phone_number = ${phoneNumber}
    ORDER BY s.id DESC LIMIT ${numbersOfPhoneMax}`;
}

/** SQL of the rows of one conversation: one per connected number of its phone number. */
export function sqlRowsOfConversation(teamId: string, phoneNumber: string, contact: string): string {
  return `SELECT o.last_activity_at, o.last_message_id, o.last_inbound_id, o.handles
    FROM (${sqlNumbersOfPhone(teamId, phoneNumber)}) s
    CROSS JOIN LATERAL (SELECT r.* FROM conversations r WHERE r.number_id = s.id AND r.contact = ${contact} OFFSET 0) o`;
}
