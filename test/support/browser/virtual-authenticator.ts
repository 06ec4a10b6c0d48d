import type { Page } from 'playwright-core';

/** An authenticator of the browser itself, as a laptop with a fingerprint reader has one. */
export interface VirtualAuthenticator {
  /** Whether the person answers its questions at once, or not at all. */
  readonly answer: (isAnswering: boolean) => Promise<void>;
}

export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    answer: async (enabled) => {
      await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
  };
}
