/** Permissions of API keys (specification section 5.2). `*` is everything, present and future. */
export const permissions = [
  'team:read',
  'team:write',
  'numbers:read',
  'numbers:write',
  'webhooks:manage',
  'messages:send',
  'messages:read',
] as const;
export type Permission = (typeof permissions)[number];

/**
 * Permissions of people only, in the dashboard: a key cannot be granted one by name, and a key's
 * `*` opens no such route.
 */
const personalPermissions = [
  'keys:manage',
  'audit:read',
  'owners:manage',
  'billing:manage',
  'webhooks:read',
] as const;
export type PersonalPermission = (typeof personalPermissions)[number];

export type Grant = Permission | '*';
/** Grants of a role: the permissions of API keys and those of people only. */
export type RoleGrant = Grant | PersonalPermission;

export const roles = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Roles that an invitation or a change of role can give through /v1; owners are made by owners, in the dashboard. */
export const assignableRoles = ['admin', 'member', 'viewer'] as const;
export type GivenRole = (typeof assignableRoles)[number];

/**
 * Grants of each role (specification section 5.3): the one table that authorizes members and
 * bounds the keys they create.
 */
export const roleGrants: Readonly<Record<Role, readonly RoleGrant[]>> = {
  owner: ['*'],
  admin: [...permissions, 'keys:manage', 'audit:read', 'webhooks:read'],
  member: [
    'messages:send',
    'messages:read',
    'webhooks:manage',
    'team:read',
    'numbers:read',
    'keys:manage',
    'webhooks:read',
  ],
  viewer: ['messages:read', 'team:read', 'numbers:read', 'webhooks:read'],
};

export function isGrant(text: string): text is Grant {
  return text === '*' || permissions.some((permission) => permission === text);
}

/** messages:send includes messages:read: a sender may read the status of its messages. */
export function allows(grants: readonly RoleGrant[], permission: Permission | PersonalPermission): boolean {
  if (grants.includes('*') || grants.includes(permission)) return true;
  return permission === 'messages:read' && grants.includes('messages:send');
}

/** Whether a creator with these grants may pass these on: a key never holds more than its creator. */
export function covers(grants: readonly RoleGrant[], wanted: readonly Grant[]): boolean {
  return wanted.every((grant) => (grant === '*' ? grants.includes('*') : allows(grants, grant)));
}
