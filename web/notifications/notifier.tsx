import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { WaitingConversations } from '#contract/conversation.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { basePath } from '#web/api/base-path.ts';
import { waitingQuery } from '#web/conversations/conversation-queries.ts';
import { leadingTab } from '#web/live/leading-tab.ts';
import { useTeam } from '#web/shell/session.ts';
import { isLookedAt } from './looking.ts';
import { notificationSettings, notificationState } from './notification-settings.ts';
import { texts } from './texts.ts';
import { playTone } from './tone.ts';

type Inbound = WaitingConversations['newest_inbound'][number];

const shownCharacters = 140;

/** Notifies of texts that come in while the page is open, by one tab of the browser. */
export function Notifier(): null {
  const team = useTeam();
  const router = useRouter();
  const { data } = useQuery(waitingQuery(team.id));
  const seenUntil = useRef<string>(undefined);
  const shown = useRef(new Set<Notification>());
  useEffect(() => {
    const close = () => {
      for (const notification of shown.current) notification.close();
    };
    // Nothing of a team stays on the screen after the person has signed out or closed the page.
    addEventListener('pagehide', close);
    return () => {
      removeEventListener('pagehide', close);
      close();
    };
  }, []);
  useEffect(() => {
    if (!data) return;
    const before = seenUntil.current;
    seenUntil.current = data.newest_inbound[0]?.id ?? before ?? '';
    if (before === undefined || !leadingTab.acts()) return;
    const show = (message: Inbound) => {
      const notification = notificationOf(message);
      shown.current.add(notification);
      notification.onclose = () => shown.current.delete(notification);
      notification.onclick = () => {
        window.focus();
        notification.close();
        void router.navigate({
          to: '/teams/$teamId/conversations/$phoneNumber/$contact',
          params: { teamId: team.id, phoneNumber: message.to, contact: message.from },
        });
      };
    };
    const notify = async () => {
      const { isOn, muted, hasSound } = notificationSettings.get();
      const fresh = data.newest_inbound.filter(({ id, to }) => id > before && !muted.includes(to));
      const unseen: Inbound[] = [];
      for (const message of fresh.toReversed())
        if (!(await isLookedAt(team.id, { phoneNumber: message.to, contact: message.from })))
          unseen.push(message);
      if (unseen.length > 0 && hasSound) playTone();
      if (isOn && notificationState() === 'granted') unseen.forEach(show);
    };
    void notify();
  }, [data, team.id, router]);
  return null;
}

/** Shows a notification. A later one of the same conversation replaces it. */
function notificationOf({ name, from, to, content }: Inbound): Notification {
  const beginning =
    content.length > shownCharacters ? `${content.slice(0, shownCharacters)}…` : content || texts.file;
  const options = {
    body: notificationSettings.get().hasText ? beginning : texts.wrote,
    tag: `${to} ${from}`,
    renotify: true,
    silent: true,
    icon: `${basePath}/app-icon.png`,
  };
  return new Notification(name ?? formatPhoneNumber(from), options);
}
