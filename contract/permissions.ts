/** What an API key can be allowed to do (specification section 5.2). `*` is everything, present and future. */
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

/** What only people do, in the dashboard: no API key can be given it by name, and `*` of a key opens no such route. */
export const personalPermissions = [
  'keys:manage',
  'audit:read',
  'owners:manage',
  'billing:manage',
  'webhooks:read',
] as const;
export type PersonalPermission = (typeof personalPermissions)[number];

export type Grant = Permission | '*';
/** What a role may be granted: an API key's permissions and those that only people have. */
export type RoleGrant = Grant | PersonalPermission;

export const roles = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Roles that an invitation or a change of role can give through /v1; owners are made by owners, in the dashboard. */
export const assignableRoles = ['admin', 'member', 'viewer'] as const;
export type GivenRole = (typeof assignableRoles)[number];

/** What each role may do (specification section 5.3): the one table that both audiences ask. */
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

/** messages:send includes messages:read: who may send may see what became of it. */
export function allows(grants: readonly RoleGrant[], permission: Permission | PersonalPermission): boolean {
  if (grants.includes('*') || grants.includes(permission)) return true;
  return permission === 'messages:read' && grants.includes('messages:send');
}

/** Whether a maker with these grants may give these: a key holds no more than its creator does. */
export function covers(grants: readonly RoleGrant[], wanted: readonly Grant[]): boolean {
  return wanted.every((grant) => (grant === '*' ? grants.includes('*') : allows(grants, grant)));
}
