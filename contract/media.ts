import { Type } from 'typebox';
import { publicIdOf, strictObject, timestamp } from './schema.ts';

/** Largest file: 5 MiB, so that a file of 5 MB fits, whether MB means 1,000,000 or 1,048,576 bytes. */
export const mediaMaxBytes = 5 * 1_024 * 1_024;

/** The query of POST /v1/media. */
export const UploadMediaQuery = strictObject({
  name: Type.Optional(
    Type.String({ maxLength: 255, description: 'The name of the file; the recipient may see it.' }),
  ),
});

/** The 201 of POST /v1/media (specification section 2.8): a file that a message may use. */
export const UploadedMedia = strictObject({
  id: publicIdOf('med', 'The id of the file. Send it as `media_id`.'),
  type: Type.String({ description: 'The media type that the bytes have.', examples: ['application/pdf'] }),
  size: Type.Integer({ description: 'The size in bytes.' }),
  expires_at: timestamp('When the file is deleted, unless a message uses it.'),
});
export type UploadedMedia = Type.Static<typeof UploadedMedia>;
