/** Checks the name of an account that a person types. */
import { InvalidArgumentError } from 'commander';

/** The name reaches every list and log of the account: letters, digits and a few signs, in one spelling. */
export function parseAccount(text: string): string {
  if (isAccount(text)) return text;
  throw new InvalidArgumentError(
    'An account is 1 to 64 lower-case letters, digits, and . _ @ + - between them, such as ana@example.com.',
  );
}

/** Whether {@link parseAccount} takes it. */
export function isAccount(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9._@+-]{0,62}[a-z0-9])?$/.test(text);
}
