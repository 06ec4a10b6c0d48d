import type { Browser } from 'playwright-core';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { startBrowser } from './browser.ts';

export interface BrowserTeam {
  readonly service: TestService;
  readonly team: TestTeam;
  readonly browser: Browser;
}

/** A service with one team, and a browser, for a suite. @param settings of the service */
export function givenBrowserTeam(settings: Readonly<Record<string, string>> = {}): BrowserTeam {
  return { ...givenTeam(settings), browser: given(() => startBrowser()) };
}
