import { BrowserSetting } from '#web/kit/browser-setting.ts';

/** The choices of a person for notifications in this browser. */
interface NotificationSettings {
  readonly isOn: boolean;
  /** The team's numbers whose texts are not notified. */
  readonly muted: readonly string[];
  /** Whether a notification shows the beginning of the text. */
  readonly hasText: boolean;
  readonly hasSound: boolean;
  /** Whether the offer above the list of conversations was refused. */
  readonly isRefused: boolean;
}

const initial: NotificationSettings = {
  isOn: false,
  muted: [],
  hasText: true,
  hasSound: false,
  isRefused: false,
};

export const notificationSettings = new BrowserSetting<NotificationSettings>(
  'ownline.notifications',
  (stored) => ({ ...initial, ...(stored as Partial<NotificationSettings> | undefined) }),
);

export const changeSettings = (change: Partial<NotificationSettings>): void =>
  notificationSettings.set({ ...notificationSettings.get(), ...change });

/** Whether this browser can show notifications of the page, and is allowed to. */
export function notificationState(): NotificationPermission | 'insecure' | 'unsupported' {
  if (!isSecureContext) return 'insecure';
  const isSupported = 'Notification' in window;
  return isSupported ? Notification.permission : 'unsupported';
}

/** Asks the browser for its permission, and shows a first notification. @returns false if it shows none */
export async function turnOn(title: string): Promise<boolean> {
  try {
    if ((await Notification.requestPermission()) !== 'granted') return false;
    // Chrome on Android has the constructor, and refuses it.
    new Notification(title);
    changeSettings({ isOn: true });
    return true;
  } catch {
    return false;
  }
}
