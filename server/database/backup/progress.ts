/** Receives the progress of a backup or restore. */
export interface Progress {
  /** @param table the table whose rows follow */
  begin(table: string): void;
  /** @param bytes size of the rows, uncompressed */
  add(bytes: number): void;
}
