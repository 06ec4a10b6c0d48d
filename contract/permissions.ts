/** Permissions of API keys. `*` grants all present and future ones. */
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
 * Permissions that only people have, in the dashboard. A key cannot be granted one, and a key's `*` does not include
 * them.
 */
const personalPermissions = [
  'keys:manage',
  'audit:read',
  'owners:manage',
  'billing:manage',
  'restore:resume',
  'webhooks:read',
  'contacts:erase',
] as const;
export type PersonalPermission = (typeof personalPermissions)[number];

export type Grant = Permission | '*';
export type RoleGrant = Grant | PersonalPermission;

export const roles = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Roles that /v1 may assign. Only an owner makes another owner, in the dashboard. */
export const assignableRoles = ['admin', 'member', 'viewer'] as const;
export type GivenRole = (typeof assignableRoles)[number];

/**
 * The grants of each role (specification section 5.3). This table authorizes members and bounds the keys that they
 * create.
 */
export const roleGrants: Readonly<Record<Role, readonly RoleGrant[]>> = {
  owner: ['*'],
  admin: [...permissions, 'keys:manage', 'audit:read', 'webhooks:read', 'contacts:erase'],
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

/**
 * The grants that a key may hold if its creator has this role. Only owners make keys with team:write: such a key can do
 * what an admin does, such as invite people and change roles (decision 0047).
 */
export function keyGrants(role: Role): readonly RoleGrant[] {
  if (role === 'owner') return roleGrants.owner;
  return roleGrants[role].filter((grant) => grant !== 'team:write');
}

export function isGrant(text: string): text is Grant {
  return text === '*' || permissions.some((permission) => permission === text);
}

/** messages:send includes messages:read, so that a sender may read the status of its messages. */
export function allows(grants: readonly RoleGrant[], permission: Permission | PersonalPermission): boolean {
  if (grants.includes('*') || grants.includes(permission)) return true;
  return permission === 'messages:read' && grants.includes('messages:send');
}

/** Whether a creator with `grants` may create a key with `wanted`: a key never holds more than its creator. */
export function covers(grants: readonly RoleGrant[], wanted: readonly Grant[]): boolean {
  return wanted.every((grant) => (grant === '*' ? grants.includes('*') : allows(grants, grant)));
}
