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
export type Grant = Permission | '*';

export function isGrant(text: string): text is Grant {
  return text === '*' || permissions.some((permission) => permission === text);
}

/** messages:send includes messages:read: who may send may see what became of it. */
export function allows(grants: readonly Grant[], permission: Permission): boolean {
  if (grants.includes('*') || grants.includes(permission)) return true;
  return permission === 'messages:read' && grants.includes('messages:send');
}
