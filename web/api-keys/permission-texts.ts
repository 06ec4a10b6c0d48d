import type { Grant, Permission } from '#contract/permissions.ts';
import { texts } from './texts.ts';

/** Permissions in the order of the page: those that most keys need come first. */
export const permissionsInOrder = Object.keys(texts.permissions) as readonly Permission[];

/** Lists the permissions of a key as the API spells them, or `Everything`. */
export function permissionsText(grants: readonly Grant[]): string {
  return grants.includes('*') ? texts.everything : grants.join(', ');
}
