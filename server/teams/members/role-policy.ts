import {
  allows,
  covers,
  type GivenRole,
  type Permission,
  type PersonalPermission,
  permissions,
  type Role,
  type RoleGrant,
  roleGrants,
} from '#contract/permissions.ts';
import { type AppError, forbidden } from '#server/platform/app-error.ts';

/**
 * Checks whether a role includes a permission. @returns 403 naming the missing permission (specification section 12.3);
 * undefined if the role includes it
 */
export function roleRefusal(role: Role, permission: Permission | PersonalPermission): AppError | undefined {
  if (allows(roleGrants[role], permission)) return undefined;
  return forbidden(
    `Your role, ${role}, does not include ${permission}. Ask an owner or an admin of the team.`,
  );
}

/** @throws AppError 403 */
export function requirePermission(role: Role, permission: Permission | PersonalPermission): void {
  const refusal = roleRefusal(role, permission);
  if (refusal) throw refusal;
}

/**
 * Refuses a role that gives a person more permissions than the grantor holds (specification section 5.3, decision
 * 0016). Only API keys can be refused, because a role that may change members has all permissions of the roles that it
 * may give.
 * @param before the person's present role; undefined for an invitation
 * @throws AppError 403, param role
 */
export function forbidEscalation(grantor: readonly RoleGrant[], role: GivenRole, before?: Role): void {
  const given = permissions.filter((permission) => allows(roleGrants[role], permission));
  const gained = given.filter(
    (permission) => before === undefined || !allows(roleGrants[before], permission),
  );
  const excess = gained.filter((permission) => !covers(grantor, [permission]));
  if (excess.length === 0) return;
  throw forbidden(
    `A key can’t grant permissions that it lacks: the role ${role} includes ${excess.join(', ')}. Use a key that has them, or ask an owner or an admin to do it in the dashboard.`,
    'role',
  );
}
