/** Reads the answer of a server that may be another program than expected. */

/** The body as text. @throws for a body of more UTF-16 units than `maxChars`, which is read no further. */
export async function readTextWithin(response: Response, maxChars: number): Promise<string> {
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.length > maxChars) throw new RangeError('The answer is too long.');
  }
  return text;
}
