import { type DeviceBody, optionalField } from './device-body.ts';

/**
 * Decodes the base64 file of an inbound message (specification section 11.5), ignoring line breaks. Its type is
 * detected from its bytes; `media_type` is ignored.
 * @returns undefined without a file; `unreadable` if it is no base64
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
