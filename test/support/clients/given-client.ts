import { before } from 'node:test';
import { startInterruptingProxy } from '#test/support/proxies/interrupting-proxy.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { givenWebhookService } from '#test/support/webhooks/webhook-world.ts';
import { type ClientLanguage, copyProgram } from './client-languages.ts';

/** A client that is installed in a folder with the test program, and a service behind a proxy that can interrupt it. */
export function givenClient(language: ClientLanguage) {
  const service = givenWebhookService();
  const team = given(() => service.newTeam());
  const proxy = given(() => startInterruptingProxy(service.baseUrl));
  const folder = givenFolder('ownline-client-');
  before(async () => {
    await language.install(folder);
    copyProgram(language, folder);
  });
  return { service, team, proxy, folder };
}
