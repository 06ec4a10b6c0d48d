import { type ResourceType, resourceTypes } from '#contract/change.ts';
import { allows, type Permission, type PersonalPermission, type RoleGrant } from '#contract/permissions.ts';

/** The permission that reading each resource type requires, in live streams and in the API's operations. */
const readPermissions: Readonly<Record<ResourceType, Permission | PersonalPermission>> = {
  team: 'team:read',
  member: 'team:read',
  invitation: 'team:read',
  key: 'keys:manage',
  number: 'numbers:read',
  message: 'messages:read',
  event: 'messages:read',
  opt_out: 'messages:read',
  webhook: 'webhooks:read',
  delivery: 'webhooks:read',
  usage: 'team:read',
  audit: 'audit:read',
};

export function visibleResources(grants: readonly RoleGrant[]): ResourceType[] {
  return resourceTypes.filter((type) => allows(grants, readPermissions[type]));
}
