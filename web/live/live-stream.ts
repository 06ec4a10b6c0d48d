import type { LiveEventName, LiveEvents } from '#contract/live.ts';
import { basePath } from '#web/api/base-path.ts';
import { isVisible, leadingTab } from './leading-tab.ts';

const names: readonly LiveEventName[] = ['hello', 'changed', 'reload', 'ended'];

/**
 * The shortest pause before a refused stream is opened again; a random time up to the same length is added. EventSource
 * itself repeats only broken streams.
 */
const retryMs = 4_000;
/** The longest pause: each refusal doubles the pause. EventSource does not expose `retry-after`. */
const retryMaxMs = 32_000;

export type LiveHandlers = { readonly [Name in LiveEventName]: (data: LiveEvents[Name]) => void } & {
  readonly connected: (isConnected: boolean) => void;
};

/**
 * Follows the live stream of a team while the tab is visible, or leads. Streams of all hidden tabs would use up the six
 * connections that a browser opens to a host. A new stream begins with `hello`; then the page reads everything again.
 * @returns a function that ends the stream
 */
export function followLiveStream(teamId: string, handlers: LiveHandlers): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waitMs = retryMs;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    if (!isVisible() && !leadingTab.acts()) return;
    const opened = new EventSource(`${basePath}/app/teams/${teamId}/live`);
    source = opened;
    for (const name of names) {
      opened.addEventListener(name, (event) => {
        if (name === 'hello') {
          waitMs = retryMs;
          handlers.connected(true);
        }
        if (name === 'ended') close();
        handlers[name](JSON.parse(event.data));
      });
    }
    opened.addEventListener('error', () => {
      handlers.connected(false);
      if (opened.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, waitMs * (1 + Math.random()));
      waitMs = Math.min(2 * waitMs, retryMaxMs);
    });
  };
  const follow = () => {
    if (source?.readyState !== EventSource.OPEN || !leadingTab.acts()) open();
  };
  open();
  document.addEventListener('visibilitychange', follow);
  const unsubscribe = leadingTab.subscribe(follow);
  const endLead = leadingTab.lead(teamId);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    unsubscribe();
    endLead();
    close();
  };
}
