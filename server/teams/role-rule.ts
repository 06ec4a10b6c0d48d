import {
  allows,
  type Permission,
  type PersonalPermission,
  type Role,
  roleGrants,
} from '#contract/permissions.ts';
import { AppError } from '#server/platform/app-error.ts';

/** 403, naming the permission that the role does not include (specification section 12.3); undefined where it does. */
export function refusalFor(role: Role, permission: Permission | PersonalPermission): AppError | undefined {
  if (allows(roleGrants[role], permission)) return undefined;
  return new AppError(
    'forbidden',
    `Your role, ${role}, does not include ${permission}. Ask an owner or an admin of the team.`,
  );
}

/** @throws AppError 403 */
export function refuseUnlessAllowed(role: Role, permission: Permission | PersonalPermission): void {
  const refusal = refusalFor(role, permission);
  if (refusal) throw refusal;
}
