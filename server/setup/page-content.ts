import type { InstallWay } from './install-way.ts';
import type { FormContext, FormProblem } from './page-forms.ts';
import type { SetupState } from './read-setup.ts';

/** Content of the setup page (specification section 11.8). */
export interface SetupPage {
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  readonly state: SetupState;
  readonly form: FormContext;
  /** Whether a person chose the view, rather than the browser's kind. */
  readonly isViewChosen: boolean;
  readonly way: InstallWay;
  /** The setup link itself, for the QR code. */
  readonly setupUrl: string;
  readonly server: string;
  /** The setting that has the server's address: BASE_URL or APP_URL. */
  readonly addressSetting: string;
  /** Set once a person has clicked for it. */
  readonly deviceToken: string | undefined;
  /** Whether this answers the click that asks for the shortcuts: then their step is open. */
  readonly isPrepared: boolean;
  /** Whether the signing command failed after that click. */
  readonly hasSigningFailed: boolean;
  /** The form that this answers: its step is open. */
  readonly submitted: FormProblem['form'] | undefined;
  readonly problem: FormProblem | undefined;
}
