import {
  exampleTime as at,
  exampleContact,
  exampleNumber,
  exampleIds as ids,
} from '#contract/example-values.ts';
import { type Examples, success } from '#server/http/example.ts';
import { exampleDelivered, exampleReply } from '#server/messages/route-examples.ts';

const page = {
  conversations: [
    {
      id: ids.conversation,
      phone_number: exampleNumber,
      contact: exampleContact,
      contact_id: null,
      name: null,
      last_message_at: at('09:31:00'),
      waiting: true,
    },
  ],
  cursor: '1795253460000_01a9fb70-dc0e-7000-8000-000000000000',
  has_more: false,
};

export const listConversationsExamples: Examples = {
  newest: success('The latest conversations', page),
  waiting: success('The conversations that wait for an answer', page, { query: { waiting: true } }),
};

export const listConversationMessagesExamples: Examples = {
  newest: success(
    'The latest messages',
    { messages: [exampleReply, exampleDelivered], cursor: exampleDelivered.id, has_more: false },
    { params: { id: ids.conversation } },
  ),
};
