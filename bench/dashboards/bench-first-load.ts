import type { Browser } from 'playwright-core';
import { newPage, startBrowser } from '#test/support/browser/browser.ts';
import { type FirstLoad, measureFirstLoad, slow4g } from '#test/support/browser/first-load.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { median } from '../load.ts';
import { Servers } from '../serve.ts';
import { newTeam } from '../teams.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const pages = [
  ['Home', '', 'Get started'],
  ['Conversations', '/conversations', 'No conversations yet'],
] as const;

/**
 * Measures the first load of the dashboard with an empty cache, on slow 4G and without a throttle. Goals: first paint
 * within 1 s, largest contentful paint within 2.5 s, 250 KB.
 */
export async function benchFirstLoad(): Promise<void> {
  const servers = await Servers.open();
  const settings = { DATA_DIR: servers.dataDir, LOG_LEVEL: 'warn' };
  const server = await servers.start('server/main.ts', { settings });
  const runtime = await servers.openRuntime(settings);
  const browser = await startBrowser();
  try {
    const team = await newTeam(runtime);
    const baseUrl = server.origin;
    const owner = await newMember({ baseUrl, runtime }, team, 'owner');
    for (const [title, path, shown] of pages) {
      for (const network of [slow4g, undefined]) {
        const loads: FirstLoad[] = [];
        for (let round = 0; round < rounds; round += 1) {
          loads.push(
            await loadOnce(browser, owner, `${baseUrl}/teams/${team.publicId}${path}`, shown, network),
          );
        }
        const of = (figure: (load: FirstLoad) => number) => Math.round(median(loads.map(figure)));
        process.stdout.write(
          `${title}, ${network ? 'slow 4G' : 'loopback'}: first paint ${of((load) => load.firstPaintMs)} ms, largest content ${of((load) => load.largestPaintMs)} ms, ${of((load) => load.bytes / 1_024)} KB\n`,
        );
      }
    }
  } finally {
    await browser.close();
    await servers.close();
  }
}

async function loadOnce(
  browser: Browser,
  owner: TeamMember,
  url: string,
  shown: string,
  network: typeof slow4g | undefined,
): Promise<FirstLoad> {
  const page = await newPage(browser, { width: 390, height: 844, colorScheme: 'light' });
  const [name = '', value = ''] = owner.cookie.split('=');
  await page.context().addCookies([{ name, value, url: owner.baseUrl }]);
  const load = await measureFirstLoad(page, url, shown, network);
  await page.context().close();
  return load;
}
