import type { Role } from '#contract/permissions.ts';

/** Describes the rights of each role (specification section 5.3). */
export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Everything, other owners included.',
  admin: 'Manages numbers, webhooks, all keys and the people of the team, and reads the audit log.',
  member: 'Sends and reads messages, manages webhooks, and makes keys of their own.',
  viewer: 'Reads messages, and sees numbers and webhooks. Changes nothing.',
};
