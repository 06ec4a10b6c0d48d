import { type DeviceBody, optionalField } from './device-body.ts';

/**
 * The file of an inbound message, from its base64 (specification section 11.5); line breaks in it are ignored. Its type
 * is that of its bytes: `media_type` is not believed.
 * @returns undefined where there is none; `unreadable` for what is no base64
 */
export function readMedia(
  body: DeviceBody,
): { readonly bytes: Buffer; readonly name: string | undefined } | 'unreadable' | undefined {
  const written = optionalField(body, 'media');
  if (written === undefined) return undefined;
  const text = /\s/.test(written) ? written.replaceAll(/\s+/g, '') : written;
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return 'unreadable';
  return { bytes: Buffer.from(text, 'base64'), name: optionalField(body, 'media_name') };
}
