/** Runs commands so that they see and change only what they may, and reach only the hosts that they may. */
export { type CommandUser, chooseAccount, otherRights } from './account.ts';
export { isPublicAddress } from './egress/addresses.ts';
export { Egress, proxyVariables } from './egress/egress.ts';
export { Pass, type RefusedHost } from './egress/pass.ts';
export { type FilterEnd, type FilterFailure, runFilter } from './filter.ts';
export { findBubblewrap, knownFaultOf } from './launch/bubblewrap.ts';
export type {
  ClosedName,
  CommandRequest,
  Confinement,
  OtherFolder,
  PreparedCommand,
} from './launch/confinement.ts';
export { probeConfinement } from './proof/confine.ts';
export { type GuardedCommand, WorkspaceGuard } from './quarantine/guard.ts';
export { protectedIn } from './quarantine/listing.ts';
export { type BackgroundOutcome, BackgroundProcesses } from './terminal/background.ts';
export { type Launch, SHELL } from './terminal/launch.ts';
export { TERMINAL_LIMITS } from './terminal/limits.ts';
export { BoundedOutput } from './terminal/output.ts';
export { PacedReading } from './terminal/paced-reading.ts';
export {
  type Dialer,
  type KnownProcess,
  ProcessBook,
  stopProcess,
} from './terminal/process-book.ts';
export { runCommand } from './terminal/run-command.ts';
export type { CommandEnd, StopReason } from './terminal/running-command.ts';
export { lineIn, type ShellSession, ShellSessions } from './terminal/shell-sessions.ts';
export { type Program, spawnLaunch } from './terminal/spawn-launch.ts';
export { readAuthor } from './view/git-author.ts';
export { type FolderLink, isRealFolder } from './view/links.ts';
export { removeMasks } from './view/masks.ts';
export { enteredFolder, readReadable, stateFolders } from './view/owners-choice.ts';
