export interface Command {
  readonly usage: string;
  /**
   * @param args the words after the campaign's name
   * @param signal ends the campaign and the processes that it started
   * @returns whether everything that the campaign checks holds
   * @throws if the arguments are wrong or the campaign could not run
   */
  readonly run: (args: string[], signal: AbortSignal) => Promise<boolean>;
}
