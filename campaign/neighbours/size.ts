/** How much the campaign measures: fully, and with --quick. */
export const fullSize = {
  /** The number of requests in a batch of the first measurement. */
  requests: 5,
  /** Whether strangers without a credential request every route, not only those that need none. */
  allStrangers: true,
  /** The number of attacks of 64 connections, by caller. */
  attacks: { strangers: 18, member: 8, key: 8, phone: 3 },
  attackMs: 8_000,
  messages: 12_000,
  slowReaders: 3_000,
  lists: 3_000,
  sends: 5_000,
  heldReads: 5_000,
  webhooks: 100,
};

export type CampaignSize = typeof fullSize;

export const quickSize: CampaignSize = {
  requests: 2,
  allStrangers: false,
  attacks: { strangers: 4, member: 2, key: 2, phone: 1 },
  attackMs: 4_000,
  messages: 2_000,
  slowReaders: 300,
  lists: 500,
  sends: 500,
  heldReads: 500,
  webhooks: 100,
};
