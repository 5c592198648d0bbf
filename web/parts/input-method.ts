/** Which keys an input method (of Japanese, Chinese, Korean, …) uses itself. */

/**
 * Whether an input method uses the key: its Enter chooses a word, and sends nothing. Safari ends the composition before
 * that Enter, so that only the key's code, which UI Events gives to such keys, still shows it.
 */
export function isOfInputMethod({ isComposing, keyCode }: PressedKey): boolean {
  return isComposing || keyCode === PROCESS_KEY;
}

/** Of a `KeyboardEvent`. */
interface PressedKey {
  readonly isComposing: boolean;
  readonly keyCode: number;
}

/** `keyCode` of a `keydown` that an input method processes. */
const PROCESS_KEY = 229;
