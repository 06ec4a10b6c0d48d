/** Where a backup or restore is. */
export interface Progress {
  /** @param table the table whose rows follow */
  begin(table: string): void;
  /** @param bytes rows, before they are compressed */
  add(bytes: number): void;
}
