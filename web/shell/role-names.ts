import type { Role } from '#contract/permissions.ts';
import { texts } from './texts.ts';

export const roleNames: Readonly<Record<Role, string>> = texts.roles;
