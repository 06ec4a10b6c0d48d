import {
  exampleTime as at,
  exampleContact as contact,
  exampleId,
  exampleIds as ids,
  exampleNumber as number,
} from '#contract/example-values.ts';
import { type Examples, refusal } from '#server/platform/http/example.ts';

const byText = {
  id: ids.optOut,
  contact,
  phone_number: number,
  message_id: ids.stop,
  opted_out_at: at('09:34:00'),
};
const byRequest = {
  id: exampleId('opt', 2),
  contact: '+14155550102',
  phone_number: null,
  message_id: null,
  opted_out_at: at('09:40:00'),
};
const other = { params: { contact: '+14155550102' } };

export const listOptOutsExamples: Examples = {
  newest: {
    summary: 'The latest opt-outs',
    status: 200,
    answer: { opt_outs: [byRequest, byText], cursor: byText.id, has_more: false },
  },
  first_page: {
    summary: 'The first page, with one opt-out',
    query: { limit: 1 },
    status: 200,
    answer: { opt_outs: [byRequest], cursor: byRequest.id, has_more: true },
  },
  next_page: {
    summary: 'The next page, which is the last',
    query: { limit: 1, cursor: byRequest.id },
    status: 200,
    answer: { opt_outs: [byText], cursor: byText.id, has_more: false },
  },
};

export const createOptOutExamples: Examples = {
  opted_out: { summary: 'The contact is opted out', ...other, status: 200, answer: byRequest },
};

export const deleteOptOutExamples: Examples = {
  opted_in: { summary: 'The contact is opted in', ...other, status: 200, answer: { deleted: true } },
  not_opted_out: refusal('The contact is not opted out', other, [
    404,
    'not_found',
    'This contact is not opted out. Write it as GET /v1/opt-outs shows it, percent-encoded.',
  ]),
};
