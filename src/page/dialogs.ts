import { type Static, Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import { isDetached } from './cdp.ts';
import type { Operation } from './operation.ts';
import type { Dialog, Tab } from './tab.ts';

export const DialogInput = Type.Object(
  {
    action: Type.Union([Type.Literal('accept'), Type.Literal('dismiss')]),
    text: Type.Optional(
      Type.String({ maxLength: 65_536, description: 'The answer to a prompt; its default if absent' }),
    ),
  },
  { additionalProperties: false },
);
export type DialogInput = Static<typeof DialogInput>;

export interface DialogAnswered {
  readonly ok: true;
  /** The dialog that was answered. */
  readonly dialog: Dialog;
  /** The one that the page opened right after it, if it did. */
  readonly next?: Dialog;
}

/** @throws AirlockError `no_dialog` */
export function openDialog(tab: Tab): Dialog {
  if (tab.dialog) return tab.dialog;
  throw new AirlockError('no_dialog', `Tab ${tab.id} shows no dialog`);
}

/**
 * Answers the open dialog of the operation's tab, and waits until it is closed.
 * @throws AirlockError `no_dialog`, also when it was closed by something else in the meantime
 */
export async function answerDialog(op: Operation, { action, text }: DialogInput): Promise<DialogAnswered> {
  const dialog = openDialog(op.tab);
  await op.raceThroughDialogs(respond(op.tab, action === 'accept', text));
  const next = op.tab.dialog;
  return { ok: true, dialog, ...(next && { next }) };
}

/**
 * Answers every dialog of a tab at once, by the policy of the session. For the session to call once for each tab.
 * @param onFault a refusal of Chrome other than that the dialog was gone already
 */
export function answerByPolicy(
  tab: Tab,
  policy: 'accept' | 'dismiss',
  onFault: (error: unknown) => void,
): void {
  tab.on('dialog', (dialog) => {
    // Staying on the page would let a page keep its tab for ever.
    const accept = policy === 'accept' || dialog.type === 'beforeunload';
    dialog.answered = accept ? 'accept' : 'dismiss';
    respond(tab, accept, undefined).catch((error: unknown) => {
      delete dialog.answered;
      const gone = error instanceof AirlockError && error.code === 'no_dialog';
      if (!gone && !isDetached(error)) onFault(error);
    });
  });
}

async function respond(tab: Tab, accept: boolean, text: string | undefined): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    tab.once('dialogClosed', resolve);
    tab.once('closed', resolve);
  });
  const promptText = text ?? tab.dialog?.defaultPrompt;
  try {
    await tab.answerDialog(accept, promptText);
  } catch (error) {
    if (!/No dialog is showing/.test(String(error))) throw error;
    tab.dialog = undefined;
    throw new AirlockError('no_dialog', `The dialog of tab ${tab.id} is closed already`, { cause: error });
  }
  await closed;
}
