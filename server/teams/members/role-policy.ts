import {
  allows,
  type Permission,
  type PersonalPermission,
  type Role,
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
