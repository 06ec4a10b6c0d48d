import { Bell, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useBrowserSetting } from '#web/kit/browser-setting.ts';
import { Button, IconButton } from '#web/kit/button.tsx';
import { changeSettings, notificationSettings, notificationState, turnOn } from './notification-settings.ts';
import { texts } from './texts.ts';

/** Offers notifications once, in one line. The browser is asked for its permission only on the click. */
export function NotificationsOffer(): ReactNode {
  const { isOn, isRefused } = useBrowserSetting(notificationSettings);
  const [isAsking, setIsAsking] = useState(false);
  if (isOn || isRefused || notificationState() !== 'default') return null;
  const accept = async () => {
    setIsAsking(true);
    if (!(await turnOn(texts.on))) changeSettings({ isRefused: true });
    setIsAsking(false);
  };
  return (
    <div className="flex items-center gap-2 border-b border-line bg-sunken py-1 pr-1.5 pl-4 text-[0.8125rem]">
      <Bell aria-hidden="true" className="size-4 shrink-0 text-quiet" />
      <p className="min-w-0 flex-1">{texts.offer}</p>
      <Button size="small" isBusy={isAsking} onClick={() => void accept()}>
        {texts.turnOn}
      </Button>
      <IconButton label={texts.refuse} onClick={() => changeSettings({ isRefused: true })}>
        <X />
      </IconButton>
    </div>
  );
}
