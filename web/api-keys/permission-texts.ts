import type { Grant, Permission } from '#contract/permissions.ts';

export const permissionTexts: Readonly<Record<Permission, string>> = {
  'messages:send': 'Send and cancel messages, and read them',
  'messages:read': 'Read messages and events',
  'numbers:read': 'See numbers and their state',
  'numbers:write': 'Connect, pause and delete numbers',
  'webhooks:manage': 'See and change webhooks',
  'team:read': 'See the team and its members',
  'team:write': 'Rename the team, invite and remove members, change roles',
};

/** Permissions in the order of the page: those that most keys need come first. */
export const permissionsInOrder = Object.keys(permissionTexts) as readonly Permission[];

/** Lists the permissions of a key as the API spells them, or `Everything`. */
export function permissionsText(grants: readonly Grant[]): string {
  return grants.includes('*') ? 'Everything' : grants.join(', ');
}
