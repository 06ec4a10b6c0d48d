import type { Role } from '#contract/permissions.ts';
import { texts } from './texts.ts';

export const roleNames: Readonly<Record<Role, string>> = texts.roles;

/** The names of roles inside a sentence. */
export const roleWords: Readonly<Record<Role, string>> = texts.rolesInSentences;
