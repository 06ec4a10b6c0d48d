import type { LinkProps } from '@tanstack/react-router';
import {
  BookUser,
  ChartColumn,
  House,
  KeyRound,
  type LucideIcon,
  MessageSquareText,
  MessagesSquare,
  Settings,
  Smartphone,
  Users,
  Webhook,
} from 'lucide-react';
import type { Permission, PersonalPermission } from '#contract/permissions.ts';
import type { CurrentTeam } from './session.ts';
import { texts } from './texts.ts';

const { navigation } = texts;

/** The path of a page whose only parameter is the team. */
type TeamPath = Exclude<
  Extract<LinkProps['to'], `/teams/$teamId${string}`>,
  `/teams/$teamId/${string}$${string}`
>;

export interface NavigationItem {
  readonly to: TeamPath;
  readonly text: string;
  readonly icon: LucideIcon;
  /** The permission that the page needs. Without it the link is hidden. */
  readonly permission?: Permission | PersonalPermission;
  /** Whether the page is in a phone's tab bar. The others are in the menu More. */
  readonly isOnPhone?: true;
  /** Whether the link shows the number of conversations that wait. */
  readonly isInbox?: true;
}

/** The pages of a team, in the order of how often people use them. */
export const mainNavigation: readonly NavigationItem[] = [
  { to: '/teams/$teamId', text: navigation.home, icon: House, isOnPhone: true },
  {
    to: '/teams/$teamId/conversations',
    text: navigation.conversations,
    icon: MessagesSquare,
    isOnPhone: true,
    isInbox: true,
    permission: 'messages:read',
  },
  {
    to: '/teams/$teamId/contacts',
    text: navigation.contacts,
    icon: BookUser,
    permission: 'messages:read',
  },
  {
    to: '/teams/$teamId/messages',
    text: navigation.messages,
    icon: MessageSquareText,
    isOnPhone: true,
    permission: 'messages:read',
  },
  {
    to: '/teams/$teamId/numbers',
    text: navigation.numbers,
    icon: Smartphone,
    isOnPhone: true,
    permission: 'numbers:read',
  },
];

export const moreNavigation: readonly NavigationItem[] = [
  { to: '/teams/$teamId/webhooks', text: navigation.webhooks, icon: Webhook, permission: 'webhooks:read' },
  { to: '/teams/$teamId/keys', text: navigation.keys, icon: KeyRound, permission: 'keys:manage' },
  { to: '/teams/$teamId/team', text: navigation.team, icon: Users, permission: 'team:read' },
  { to: '/teams/$teamId/usage', text: navigation.usage, icon: ChartColumn, permission: 'team:read' },
  { to: '/teams/$teamId/settings', text: navigation.settings, icon: Settings },
];

/** The pages that a person may open. */
export const allowed = (team: CurrentTeam, items: readonly NavigationItem[]): readonly NavigationItem[] =>
  items.filter(({ permission }) => permission === undefined || team.can(permission));
