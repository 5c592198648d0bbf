/** Ctrl-C at a question: the command ends with the exit code of the signal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
