import type { TestService } from '#test/support/service/test-service.ts';

/** The rows of files: complete ones, incomplete ones, and chunks. */
export async function countStoredMedia(
  service: TestService,
): Promise<{ readonly complete: number; readonly incomplete: number; readonly chunks: number }> {
  const [row] = await service.query<{ complete: number; incomplete: number; chunks: number }>(
    `SELECT count(*) FILTER (WHERE is_complete) AS complete, count(*) FILTER (WHERE NOT is_complete) AS incomplete,
       (SELECT count(*) FROM media_chunks) AS chunks FROM media`,
  );
  if (!row) throw new Error('no row');
  return row;
}
