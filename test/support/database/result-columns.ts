import type pg from 'pg';

/** Names of the columns that a statement returns, in order; none if it returns no rows. It is not run. */
export async function resultColumns(client: pg.Client, text: string): Promise<string[]> {
  const { connection } = client as pg.Client & { readonly connection: pg.Connection };
  const names: string[] = [];
  const describe = new Promise<void>((resolve, reject) => {
    const onColumns = ({ fields }: { readonly fields: readonly { readonly name: string }[] }) =>
      names.push(...fields.map(({ name }) => name));
    const query = {
      submit: () => {
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription: onColumns,
      handleError: reject,
      handleReadyForQuery: () => resolve(),
    };
    client.query(query as unknown as pg.Submittable);
  });
  await describe;
  return names;
}
