import type { FileForm } from '#contract/setup.ts';
import { compileActions } from './compile-workflow.ts';
import { type Connection, importQuestion } from './connection.ts';
import { automationSets } from './inbound-coverage/coverage.ts';
import { inboundSteps } from './inbound-steps.ts';
import { outboxSteps } from './outbox-steps.ts';
import type { Step } from './step.ts';
import {
  anyWifi,
  charger,
  encodeTriggers,
  everySixHours,
  messageContains,
  type Trigger,
} from './triggers.ts';
import { clientVersion, minimumClientVersion, type Workflow } from './workflow.ts';

/** One of the two shortcuts of a phone. */
export interface Shortcut {
  /** The shortcut's name on the iPhone, which is its file's name without the extension. */
  readonly name: string;
  /** The steps of the shortcut. Without a connection, the iPhone asks for the setup code at the import. */
  readonly steps: (connection: Connection | undefined) => readonly Step[];
  readonly icon: { readonly color: number; readonly glyph: number };
  /** Whether the shortcut reads the message that started it. */
  readonly takesInput: boolean;
  /** The automations that start it, which files for iOS 27 have in them. */
  readonly triggers: readonly Trigger[];
}

export const outbox: Shortcut = {
  name: 'Ownline Outbox',
  steps: outboxSteps,
  icon: { color: 463140863, glyph: 61467 },
  takesInput: false,
  triggers: [charger, anyWifi, ...everySixHours],
};

export const inbound: Shortcut = {
  name: 'Ownline Inbound',
  steps: inboundSteps,
  icon: { color: 4292093695, glyph: 59511 },
  takesInput: true,
  // `c`, `1` and `2` catch the replies of one character that texts ask for most, as in "Reply C to confirm".
  triggers: [...automationSets.full, 'c', '1', '2'].map(messageContains),
};

export const shortcuts: readonly Shortcut[] = [outbox, inbound];

/**
 * Builds the property list of a shortcut. With a connection it contains the
 * device token, so the file is secret. Without a connection the iPhone asks for a setup code, and the file may be
 * published.
 */
export function buildWorkflow(shortcut: Shortcut, connection?: Connection, form: FileForm = 26): Workflow {
  return {
    WFWorkflowClientVersion: clientVersion,
    WFWorkflowMinimumClientVersion: minimumClientVersion,
    WFWorkflowMinimumClientVersionString: String(minimumClientVersion),
    WFWorkflowIcon: {
      WFWorkflowIconStartColor: shortcut.icon.color,
      WFWorkflowIconGlyphNumber: shortcut.icon.glyph,
    },
    WFWorkflowHasShortcutInputVariables: shortcut.takesInput,
    WFWorkflowHasOutputFallback: false,
    WFWorkflowIsDisabledOnLockScreen: false,
    WFWorkflowInputContentItemClasses: [
      ...inputClasses,
      ...(shortcut.takesInput ? ['WFMessageContentItem'] : []),
    ],
    WFWorkflowOutputContentItemClasses: [],
    WFWorkflowTypes: [],
    WFQuickActionSurfaces: [],
    WFWorkflowImportQuestions: connection ? [] : [encodedQuestion],
    WFWorkflowActions: compileActions(shortcut.name, shortcut.steps(connection)),
    ...(form === 27 ? { WFWorkflowTriggers: encodeTriggers(shortcut.name, shortcut.triggers) } : {}),
  };
}

const encodedQuestion = {
  ActionIndex: 0,
  Category: 'Parameter',
  ParameterKey: 'WFTextActionText',
  Text: importQuestion,
  DefaultValue: '',
};

/** Input types that Shortcuts writes for a shortcut that accepts anything, its default. */
const inputClasses = [
  'WFAppContentItem',
  'WFAppStoreAppContentItem',
  'WFArticleContentItem',
  'WFContactContentItem',
  'WFDateContentItem',
  'WFEmailAddressContentItem',
  'WFFolderContentItem',
  'WFGenericFileContentItem',
  'WFImageContentItem',
  'WFiTunesProductContentItem',
  'WFLocationContentItem',
  'WFDCMapsLinkContentItem',
  'WFAVAssetContentItem',
  'WFPDFContentItem',
  'WFPhoneNumberContentItem',
  'WFRichTextContentItem',
  'WFSafariWebPageContentItem',
  'WFStringContentItem',
  'WFURLContentItem',
];
