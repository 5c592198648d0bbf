/** Times and numbers as short as a person can still read them, in the browser's way. */

/** A time of today as hours and minutes, another one with its date. */
export function shortTime(iso: string): string {
  const time = new Date(iso);
  const isToday = time.toDateString() === new Date().toDateString();
  return time.toLocaleString([], isToday ? { timeStyle: 'short' } : { dateStyle: 'medium' });
}

/** 1234567 as `1.2M`. */
export function shortNumber(count: number): string {
  return Intl.NumberFormat([], { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}

/** An amount of money to the cent, and what is less to two digits. */
export function shortCost({ amount, currency }: Money): string {
  const digits = { maximumSignificantDigits: 2, roundingPriority: 'morePrecision' } as const;
  return amount.toLocaleString([], { style: 'currency', currency, ...digits });
}

interface Money {
  readonly amount: number;
  readonly currency: string;
}
