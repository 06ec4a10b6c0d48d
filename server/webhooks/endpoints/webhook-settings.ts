import type { UpdateWebhookRequest } from '#contract/webhook.ts';
import { validateEvents } from './validate-webhook.ts';
import type { WebhookRow, WebhookSettings } from './webhook-store.ts';

/**
 * Computes a webhook's settings after a change (specification section 4.4). Enabling the webhook, or giving it a new
 * url, begins a generation. The failure count restarts at zero, and attempts of earlier generations no longer count
 * (decision 0017). An unchanged url begins no generation.
 */
export function applyWebhookChange(
  webhook: WebhookRow,
  change: UpdateWebhookRequest,
  at: Date,
): WebhookSettings {
  const {
    url = webhook.url,
    active = webhook.is_active,
    phone_number: phoneNumber = webhook.phone_number,
  } = change;
  const isNewGeneration = change.active === true || url !== webhook.url;
  const isSwitchedOff = !active && webhook.is_active;
  return {
    url,
    events: change.events === undefined ? webhook.events : validateEvents(change.events),
    phoneNumber,
    isActive: active,
    failureCount: isNewGeneration ? 0 : webhook.failure_count,
    generation: isNewGeneration ? webhook.generation + 1 : webhook.generation,
    disabledAt: active ? null : isSwitchedOff ? at : webhook.disabled_at,
    disabledBy: active ? null : isSwitchedOff ? 'member' : webhook.disabled_by,
  };
}
