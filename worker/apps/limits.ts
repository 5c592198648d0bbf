/** The limits of the keys of apps. */
import { SECOND } from '../../shared/units.ts';

export const APP_LIMITS = {
  /** How long an isolate trusts the keys that it has read: a deleted key ends within that time. */
  knownMs: SECOND,
  /** How much further ahead the clock of an app may be than ours, in seconds. Behind costs only life. */
  clockSeconds: 10 * 60,
  /** How long a token of an identity provider may be valid, in seconds: a working day, as some of them have it. */
  maxProviderSeconds: 24 * 60 * 60,
  /** How long a provider may take to send its keys. */
  providerMs: 5 * SECOND,
  /** Providers whose keys an isolate holds. */
  maxProviders: 50,
  /** Days for which the tokens that an app has used are kept. Only the day that runs is read. */
  keptDays: 2,
} as const;
