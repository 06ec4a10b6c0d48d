import { Pool } from 'undici';

/**
 * The yardstick of benchmark P4: a bare undici loop that posts the same bytes and headers, without signatures and
 * records.
 * @returns the number of posts, and the posts per second without the first quarter, which warms up
 */
export async function postInALoop(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<{ posted: number; perSecond: number }> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections });
  let posted = 0;
  const started = performance.now();
  const warm = started + seconds * 250;
  const until = started + seconds * 1_000;
  let cold = 0;
  const loop = async () => {
    while (performance.now() < until) {
      const answer = await pool.request({ method: 'POST', path: pathname, headers: { ...headers }, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`the sink answered ${answer.statusCode}`);
      posted += 1;
      if (performance.now() < warm) cold = posted;
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  const perSecond = (posted - cold) / ((performance.now() - warm) / 1_000);
  await pool.close();
  return { posted, perSecond };
}
