import { optionalField } from './device-body.ts';
import { decodeFile, type InboundBody } from './inbound-body.ts';

/**
 * Decodes the base64 file of an inbound message (specification section 11.5), ignoring line breaks. Its type is
 * detected from its bytes; `media_type` is ignored.
 * @returns undefined without a file; `unreadable` if it is no base64
 */
export async function readMedia({
  fields,
  file,
}: InboundBody): Promise<
  { readonly bytes: Buffer; readonly name: string | undefined } | 'unreadable' | undefined
> {
  const written = optionalField(fields, 'media');
  if (written === undefined && file === undefined) return undefined;
  const bytes = await decodeFile(file ?? Buffer.from(JSON.stringify(written).slice(1, -1)));
  return bytes ? { bytes, name: optionalField(fields, 'media_name') } : 'unreadable';
}
