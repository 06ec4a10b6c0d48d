import type { InstallWay } from './install-way.ts';
import type { FormContext, FormProblem } from './page-forms.ts';
import type { SetupState } from './read-setup.ts';

/** Content of the setup page (specification section 11.8). */
export interface SetupPage {
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  readonly state: SetupState;
  readonly form: FormContext;
  /** True if a person chose the view; otherwise the browser's kind decides. */
  readonly isViewChosen: boolean;
  readonly way: InstallWay;
  /** The URL of the setup link, for the QR code. */
  readonly setupUrl: string;
  /** The phone's device token; undefined until a person has clicked to show it. */
  readonly deviceToken: string | undefined;
  /** True for the answer to a click on the install button: the step with the shortcuts is shown open. */
  readonly isPrepared: boolean;
  /** True if the signing command failed after a click on the install button. */
  readonly hasSigningFailed: boolean;
  /** The form that this page answers; its step is shown open. */
  readonly submitted: FormProblem['form'] | undefined;
  readonly problem: FormProblem | undefined;
}
