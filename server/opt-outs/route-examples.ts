import {
  exampleTime as at,
  exampleContact as contact,
  exampleId,
  exampleIds as ids,
  exampleNumber as number,
} from '#contract/example-values.ts';
import { type Examples, pageExamples, refusal, success } from '#server/http/example.ts';

const byText = {
  id: ids.optOut,
  contact,
  phone_number: number,
  message_id: ids.stop,
  opted_out_at: at('09:34:00'),
  ignored_start_at: null,
};
const byRequest = {
  id: exampleId('opt', 2),
  contact: '+14155550102',
  phone_number: null,
  message_id: null,
  opted_out_at: at('09:40:00'),
  ignored_start_at: null,
};
const other = { params: { contact: '+14155550102' } };

export const listOptOutsExamples = pageExamples('opt_outs', [byRequest, byText], {
  newest: 'The latest opt-outs',
  firstPage: 'The first page, with one opt-out',
});

export const createOptOutExamples: Examples = {
  opted_out: success('The contact is opted out', byRequest, other),
};

export const deleteOptOutExamples: Examples = {
  opted_in: success('The contact is opted in', { deleted: true }, other),
  not_opted_out: refusal('The contact is not opted out', other, [
    404,
    'not_found',
    'This contact is not opted out. Write it as GET /v1/opt-outs shows it, percent-encoded.',
  ]),
};
