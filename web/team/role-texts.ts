import type { Role } from '#contract/permissions.ts';

/** What a person with the role may do (specification section 5.3). */
export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Everything, owners and the plan included.',
  admin: 'Manages numbers, webhooks, all keys and the people of the team, and reads the audit log.',
  member: 'Sends and reads messages, manages webhooks, and makes keys of their own.',
  viewer: 'Reads messages, and sees numbers and webhooks. Changes nothing.',
};
