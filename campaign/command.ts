export interface Command {
  readonly usage: string;
  /**
   * @param args the words after the campaign's name
   * @param signal ends the campaign and the processes that it started
   * @returns whether everything that the campaign checks holds
   * @throws where the arguments are wrong or the campaign could not run
   */
  readonly run: (args: string[], signal: AbortSignal) => Promise<boolean>;
}

/** Reads an option that is a whole number. @throws Error with the option's name */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new Error(`--${option} must be a whole number of at most five digits, not "${text}".`);
}
