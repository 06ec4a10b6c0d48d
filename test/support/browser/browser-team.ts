import type { Browser } from 'playwright-core';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { startBrowser } from './browser.ts';

export interface BrowserTeam {
  readonly service: TestService;
  readonly team: TestTeam;
  readonly browser: Browser;
  readonly close: () => Promise<void>;
}

/** Starts a service, a browser and a team. @param settings of the service */
export async function startBrowserTeam(
  settings: Readonly<Record<string, string>> = {},
): Promise<BrowserTeam> {
  const service = await startTestService(settings);
  const team = await service.newTeam();
  try {
    const browser = await startBrowser();
    const close = async () => {
      await browser.close();
      await service.close();
    };
    return { service, team, browser, close };
  } catch (error) {
    await service.close();
    throw error;
  }
}
