/** Settings of a service under test: short times, so that all attempts of a delivery take only seconds. */
export const shortTimes = {
  EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
  WEBHOOK_OFFSETS_SECONDS: '0,1,2,3',
  WEBHOOK_TIMEOUT_MS: '2000',
  DEVICE_HOLD_SECONDS: '2',
  PACING: 'off',
  LOG_LEVEL: 'warn',
};

/** The same settings without rate limits, and with times for processes that are killed. */
export const killSettings = {
  ...shortTimes,
  MEDIA_TIMEOUT_MS: '2000',
  DEVICE_LEASE_SECONDS: '30',
  RATE_LIMITS: 'off',
};
