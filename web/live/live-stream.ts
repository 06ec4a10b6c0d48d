import type { LiveEventName, LiveEvents } from '#contract/live.ts';
import { basePath } from '#web/api/base-path.ts';

const names: readonly LiveEventName[] = ['hello', 'rows', 'changed', 'reload', 'ended'];

/** The browser reopens a stream that breaks, but not one that was refused: then after this time, and up to twice as much. */
const retryMs = 4_000;
/** Each refusal doubles the wait, up to this: the browser does not show the `retry-after` of a stream. */
const retryMaxMs = 32_000;

export type LiveHandlers = { readonly [Name in LiveEventName]: (data: LiveEvents[Name]) => void } & {
  /** Whether the stream is open. */
  readonly connected: (isConnected: boolean) => void;
};

/**
 * Follows the live stream of a team (specification section 12.9) while the tab is visible. A browser opens six
 * connections to a host at most, and hidden tabs would use them up. Each start begins with `hello`, after which
 * everything is read again.
 * @returns ends it
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
    if (document.visibilityState !== 'visible') return;
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
  open();
  document.addEventListener('visibilitychange', open);
  return () => {
    document.removeEventListener('visibilitychange', open);
    close();
  };
}
