/** A part of the transcript. */
import type { Component } from '@earendil-works/pi-tui';

/** `invalidate` says that what it shows has changed. */
export type Part = Component;
