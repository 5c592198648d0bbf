/** The keys of the screen, for `/help`. */

export const KEYS: readonly (readonly [keys: string, help: string])[] = [
  ['Enter', 'sends; while an answer runs, the message goes into it'],
  ['Tab', 'completes; while an answer runs, sends the message behind it'],
  ['Shift+Enter', 'begins a new line; so do Alt+Enter, Ctrl+J, and \\ before Enter'],
  ['Alt+Up', 'takes the last waiting message back'],
  ['Up, Down', 'go through what you wrote before; Ctrl+R searches it'],
  ['Ctrl+G', 'opens the text in your editor ($VISUAL, $EDITOR)'],
  ['Ctrl+V', 'adds an image from the clipboard'],
  ['Esc', 'stops the answer'],
  ['Ctrl+C', 'clears the text, or stops the answer; twice leaves'],
  ['Ctrl+O', 'unfolds or folds outputs'],
  ['Ctrl+D', 'leaves'],
  ['@', 'names a file or folder'],
  ['!', 'runs a command of your own, which the agent does not see'],
];
