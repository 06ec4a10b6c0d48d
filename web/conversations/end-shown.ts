/** A view within this distance of the end shows the newest message. */
export const nearEndPixels = 120;

/** Whether a frame that scrolls shows its end. */
export const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: Element): boolean =>
  scrollHeight - scrollTop - clientHeight < nearEndPixels;

/** Whether the open conversation shows its newest message. A person who scrolled up has not seen it. */
export function isEndShown(): boolean {
  const log = document.querySelector('[role=log]');
  return log === null || isNearEnd(log);
}
