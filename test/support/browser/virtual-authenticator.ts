import type { Page } from 'playwright-core';

/** An authenticator inside the browser, like a laptop's fingerprint reader. */
export interface VirtualAuthenticator {
  /** Lets the person confirm requests at once, or never. */
  readonly answer: (isAnswering: boolean) => Promise<void>;
}

/** @param canVerify false for a device that has neither PIN nor fingerprint reader */
export async function addAuthenticator(page: Page, { canVerify = true } = {}): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: canVerify,
      isUserVerified: canVerify,
      automaticPresenceSimulation: true,
    },
  });
  return {
    answer: async (enabled) => {
      await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
  };
}
