import { ActionFailure } from './value.ts';

/** Asked before an action connects to a host, or sends through the app Messages, for the first time. */
export interface Question {
  /** The UUID of the action. */
  readonly action: string;
  readonly kind: 'connect' | 'send';
  readonly host: string;
}

export type Consent = 'always' | 'once' | 'never';

/**
 * The permissions of the shortcuts on an iPhone. iOS asks for each action by itself, even if another action of the
 * shortcut may reach the same host. A new import begins without permissions.
 */
export class Permissions {
  isLocked = false;
  /** The person who holds the iPhone. */
  onQuestion: (question: Question) => Consent | Promise<Consent> = () => 'always';
  readonly #allowed = new Set<string>();

  /** @throws ActionFailure if the person does not allow the action, or can't, because the iPhone is locked */
  async check(question: Question): Promise<void> {
    const { action, kind, host } = question;
    const permission = `${action} ${kind} ${host}`;
    if (this.#allowed.has(permission)) return;
    if (this.isLocked)
      throw new ActionFailure(
        'This shortcut requires privacy permissions that cannot be granted while your device is locked.',
      );
    const consent = await this.onQuestion(question);
    if (consent === 'never') throw new ActionFailure(`the shortcut may not ${kind} to ${host}`);
    if (consent === 'always') this.#allowed.add(permission);
  }
}
