import { exampleTime as at, exampleId } from '#contract/example-values.ts';
import { type Examples, planLimitExample, refusal, success } from '#server/http/example.ts';
import { sendableExtensions } from './media-type.ts';

export const uploadMediaExamples: Examples = {
  picture: success(
    'A picture',
    {
      id: exampleId('med', 1),
      type: 'image/png',
      size: 68,
      expires_at: at('09:36:00').replace('21T', '22T'),
    },
    { query: { name: 'menu.png' } },
    201,
  ),
  other_type: refusal('A file that an iPhone does not send', {}, [
    400,
    'invalid_request',
    `An iPhone sends no file of this type. The type is that of the bytes: ${sendableExtensions.join(', ')}.`,
  ]),
  not_in_plan: planLimitExample(
    'A file on the plan free',
    'Media need the plan starter or higher. Send without files',
    {},
    { param: 'media_id', limit: 0 },
  ),
};
