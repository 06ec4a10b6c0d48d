import type { Coverage } from './coverage-table.ts';

/** Section 3. */
export const states: Coverage = {
  '3.1 accepted (202)': {
    'messages/send.test.ts': [
      'answers 202 with the queued message, which its phone gets; the next poll makes it sent',
    ],
  },
  '3.1 queued: handed to a phone': {
    'device-protocol/hand-out.test.ts': [
      'a message is handed out once, and the next one only after its report',
    ],
  },
  '3.1 polling: the phone says it': {
    'device-protocol/reports.test.ts': ['sent: once, however often it is said'],
    'messages/get-message.test.ts': ['follows the message through polling and sent'],
  },
  '3.1 polling: the phone left before': {
    'device-protocol/release.test.ts': [
      'a message whose phone left before the first byte goes back to its place, and its hand-out is forgotten',
      'a message is given back only by the poll that claimed it, and once',
    ],
  },
  '3.1 polling: unconfirmed, first hand-out, on_unconfirmed': {
    'device-protocol/reports.test.ts': [
      'is handed out a second time before what came later, and never a third time',
    ],
    'device-protocol/release.test.ts': [
      'a message that goes back to the queue is not overtaken by a hand-out that waited for that',
    ],
  },
  '3.1 queued: a report that the': {
    'device-protocol/reports.test.ts': ['is cancelled by a report that the first hand-out was sent'],
  },
  '3.1 sent: a device that can': {
    'messages/get-message.test.ts': ['shows when it was delivered, where the device can tell'],
  },
  '3.1 queued, polling, sent: section 3.2': {
    'device-protocol/reports.test.ts': [
      "failed: with the phone's own words",
      'not delivered: only from a device that can tell',
    ],
    'messages/cancel-message.test.ts': [
      'fails a queued message with cancelled and answers it with every field of section 2.6',
    ],
    'numbers/delete-number.test.ts': [
      'fails what is queued with number_removed, gives it back, and leaves what a phone holds alone',
    ],
  },
  '3.1 failed (device_timeout): a late report': {
    'device-protocol/reports.test.ts': ['a late sent within 72 hours corrects device_timeout'],
  },
  '3.1 received by a phone': {
    'device-protocol/inbound.test.ts': ['is stored as received, with its event'],
  },
  '3.1 Nothing else is possible': {
    'database/invariants.test.ts': [
      'a message takes the steps of the state table and no other (specification section 3.1)',
      'only device_timeout leaves failed, and only what was handed out goes from queued to sent',
    ],
    'device-protocol/reports.test.ts': [
      'delivered straight from polling, and from device_timeout, makes sent first',
    ],
  },
  '3.2 queued: expired': {
    'device-protocol/unconfirmed.test.ts': [
      'what waits longer than QUEUE_EXPIRY_HOURS expires and is given back; a pause does not stop that clock',
    ],
  },
  '3.2 queued: cancelled': {
    'messages/cancel-message.test.ts': [
      'fails a queued message with cancelled and answers it with every field of section 2.6',
    ],
  },
  '3.2 queued: number_removed': {
    'numbers/delete-number.test.ts': [
      'fails what is queued with number_removed, gives it back, and leaves what a phone holds alone',
      'leaves no message queued that raced it: 50 numbers, 20 sends each, over two processes',
    ],
    'device-protocol/release.test.ts': [
      'what goes back to the queue of a deleted number is handed out no more, and fails as number_removed',
    ],
  },
  '3.2 polling: device_timeout': {
    'device-protocol/unconfirmed.test.ts': [
      'a hand-out that is never reported is unconfirmed when its lease ends',
    ],
    'device-protocol/phone-deaths.test.ts': [
      'died … with …: … left the phone, the message is …, the next one goes out',
    ],
  },
  '3.2 polling: device_error': {
    'device-protocol/reports.test.ts': ["failed: with the phone's own words"],
  },
  '3.2 sent: not_delivered': {
    'device-protocol/reports.test.ts': ['not delivered: only from a device that can tell'],
  },
  '3.2 A message is handed': {
    'device-protocol/hand-out.test.ts': [
      'a message is handed out once, and the next one only after its report',
    ],
    'device-protocol/reports.test.ts': [
      'is handed out a second time before what came later, and never a third time',
    ],
    'database/invariants.test.ts': ['a message is handed out at most twice'],
    'e2e/fleet.slow.test.ts': [
      'hands each of 4,000 messages out once, starves no phone and keeps the order of each conversation',
    ],
  },
  '3.2 A report counts for': {
    'device-protocol/reports.test.ts': [
      'a report for a message of another number, or for one that was never handed out, changes nothing',
      'is cancelled by a report that the first hand-out was sent',
      'a failure of the first hand-out says nothing of the second',
      'a late sent of the first hand-out does not empty the hands that hold the second',
    ],
  },
  '3.2 A late report of': {
    'device-protocol/reports.test.ts': [
      'a late sent within 72 hours corrects device_timeout',
      'a later one does not, and no other failure is corrected',
      'a late sent counts after the deletion of the number',
    ],
  },
  '3.2 Reports may be repeated': {
    'device-protocol/reports.test.ts': ['sent: once, however often it is said'],
  },
  '3.2 What fails without ever': {
    'usage/quota.test.ts': [
      'gives back what fails without having been handed out, and not what a phone had',
      'does not give back what a phone had once and that expired while it waited for its second hand-out',
      'begins anew with the month in UTC, and gives back to the month of the message',
    ],
    'messages/cancel-message.test.ts': [
      'gives the message back at once: the next one is accepted where the month was used up',
      'gives it back to the month in which it was accepted',
      'costs where a phone had it once: retry_once, cancelled while it waits for its second hand-out',
    ],
    'device-protocol/reports.test.ts': ['costs what it cost when its number is deleted while it waits'],
  },
  '3.3 PUT moves a number': {
    'numbers/pause-number.test.ts': [
      'holds back a hand-out that met it half-way',
      'keeps what is queued and hands it out, in order, to the held poll when it ends',
      'hands nothing out from the moment its PUT is answered, under sends to two processes and a polling phone',
    ],
    'device-protocol/inbound.test.ts': ['a paused number still receives; a deleted one does not'],
    'device-protocol/hand-out.test.ts': ['a paused number is held, then idle; resuming wakes the held poll'],
  },
};
