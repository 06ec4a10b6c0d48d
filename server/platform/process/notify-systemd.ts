import { execFile } from 'node:child_process';
import type { Logger } from './logger.ts';

/** Notifies systemd that a unit of Type=notify is ready, so that `systemctl start` returns. */
export function notifySystemd(logger: Logger): void {
  execFile('systemd-notify', ['--ready'], (error) => {
    if (error) logger.warn({ err: error }, 'systemd could not be notified that the service is ready');
  });
}
