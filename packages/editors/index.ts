/** Editors and agent programs: the editor on this machine, and the bridge as an editor of others. */
export { Guests } from './guests/guests.ts';
export { CompanionHost, guestContext } from './guests/hosting.ts';
export type { Candidate, Discovery, SearchPlace } from './ide/discovery/candidate.ts';
export { discover } from './ide/discovery/discover.ts';
export { hostsFor, placeHere } from './ide/discovery/place.ts';
export { confirmCompanion, isConfirmed } from './ide/link/confirmed.ts';
export { editorContext } from './ide/link/context.ts';
export { editorDiagnostics } from './ide/link/diagnostics.ts';
export { prefer } from './ide/link/finding.ts';
export { linkHere } from './ide/link/link.ts';
export { type Probed, probe } from './ide/probe.ts';
