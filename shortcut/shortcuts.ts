import { compileActions } from './compile-workflow.ts';
import { type Connection, importQuestion } from './connection.ts';
import { inboundSteps } from './inbound-steps.ts';
import { outboxSteps } from './outbox-steps.ts';
import type { Step } from './step.ts';
import { clientVersion, minimumClientVersion, type Workflow } from './workflow.ts';

/** One of the two shortcuts of a phone. */
export interface Shortcut {
  /** Its name on the iPhone: that of the file without its ending. */
  readonly name: string;
  /** Without a connection its first action takes the answer of the import question. */
  readonly steps: (connection: Connection | undefined) => readonly Step[];
  readonly icon: { readonly color: number; readonly glyph: number };
  /** Whether it reads the message that started it. */
  readonly takesInput: boolean;
}

export const outbox: Shortcut = {
  name: 'Ownline Outbox',
  steps: outboxSteps,
  icon: { color: 463140863, glyph: 61467 },
  takesInput: false,
};

export const inbound: Shortcut = {
  name: 'Ownline Inbound',
  steps: inboundSteps,
  icon: { color: 4292093695, glyph: 59511 },
  takesInput: true,
};

export const shortcuts: readonly Shortcut[] = [outbox, inbound];

/**
 * The property list of a shortcut (docs/specification.md section 11.11). With a connection, address and token are in it:
 * the file is a secret. Without one, the iPhone asks for the setup code at the import, and the file can be published.
 */
export function buildWorkflow(shortcut: Shortcut, connection?: Connection): Workflow {
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
    WFWorkflowInputContentItemClasses: inputClasses,
    WFWorkflowOutputContentItemClasses: [],
    WFWorkflowTypes: [],
    WFQuickActionSurfaces: [],
    WFWorkflowImportQuestions: connection ? [] : [encodedQuestion],
    WFWorkflowActions: compileActions(shortcut.name, shortcut.steps(connection)),
  };
}

const encodedQuestion = {
  ActionIndex: 0,
  Category: 'Parameter',
  ParameterKey: 'WFTextActionText',
  Text: importQuestion,
  DefaultValue: '',
};

/** Shortcuts accepts any input by default: its own list of everything. */
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
