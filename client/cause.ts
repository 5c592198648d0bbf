/** Why a request did not get through, as far as the runtime says it: a certificate, a name, a port that nobody listens on. */
export function causeOf(error: unknown): string | undefined {
  const { cause } = Object(error) as { readonly cause?: unknown };
  const { message, code } = Object(cause) as {
    readonly message?: unknown;
    readonly code?: unknown;
  };
  // A host with several addresses fails with an AggregateError, whose message is empty.
  const words = [message, code].find((text) => typeof text === 'string' && text !== '');
  return words === undefined ? undefined : String(words);
}
