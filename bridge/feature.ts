/**
 * The contract between the bridge and its features. A feature is one folder and one line in features.ts; the bridge knows
 * it by this interface alone. What a feature adds to a verdict can only make it stricter.
 */

import type {
  Asker,
  BridgeTool,
  EditShape,
  Feed,
  GuestCalls,
  Offers,
} from '../packages/host/index.ts';
import type {
  Confinement,
  Egress,
  ProcessBook,
  WorkspaceGuard,
} from '../packages/sandbox/index.ts';
import type { ResolvedPath, Workspace } from '../packages/workspace/index.ts';
import type { Hello } from '../shared/wire/tunnel.ts';

import type { CallGuard } from './admission/guard.ts';
import type { OwnersWord } from './admission/owners-word.ts';
import type { Undoing } from './admission/undoing.ts';
import type { BridgeConfig } from './config.ts';
import type { FindPiece } from './context/finder.ts';
import type { LookPiece } from './context/looker.ts';
import type { Audit } from './grantees/audit.ts';
import type { Answers } from './tunnel/session.ts';

/** What the bridge has opened before its features. They own none of it. */
export interface BridgeGround {
  readonly config: BridgeConfig;
  readonly workspace: Workspace;
  readonly confinement: Confinement;
  readonly guard: WorkspaceGuard;
  /** Opens hosts to commands by their names. Undefined where the sandbox cannot. */
  readonly egress: Egress | undefined;
  /** Has the handles of all commands of the bridge. */
  readonly book: ProcessBook;
  readonly offers: Offers;
  readonly audit: Audit;
  readonly owner: OwnersWord;
  /** Ends a call of the session, if it runs. */
  readonly cancel: (callId: string) => void;
  /** Aborts when the bridge ends. */
  readonly signal: AbortSignal;
}

/** Where a room is: the bridge's own folder, or the worktree of a conversation. */
export interface RoomSource {
  readonly kind: 'workspace' | 'worktree';
  readonly workspace: Workspace;
  readonly confinement: Confinement;
  /** Looks after what commands leave behind. A worktree has none: the bridge runs nothing of it outside the sandbox. */
  readonly guard?: WorkspaceGuard;
  /** Throws a ToolFailure for a place that calls may read but not change. */
  readonly assertChangeable?: (place: ResolvedPath) => Promise<void>;
}

/** What a feature adds to one room. */
export interface RoomPart {
  readonly tools?: readonly BridgeTool[];
  readonly shape?: EditShape;
  /** At most one feature keeps what calls change. */
  readonly undoing?: Undoing;
  readonly end?: () => Promise<void>;
}

export interface Feature {
  /** Called once for the workspace, and once for each worktree. */
  readonly inRoom?: (source: RoomSource) => RoomPart;
  /** The tool of a name that no room has. Such tools come and go while the bridge runs. */
  readonly find?: (name: string) => BridgeTool | undefined;
  readonly guard?: CallGuard;
  readonly asker?: Asker;
  readonly look?: LookPiece;
  readonly finds?: FindPiece;
  readonly feeds?: readonly Feed[];
  /** The calls that begin here. At most one feature has some. */
  readonly guestCalls?: GuestCalls;
  /** Fields of each hello. Does not reject. */
  readonly hello?: () => Promise<Partial<Hello>>;
  readonly answers?: Partial<Answers>;
  /** The bridge is connected. May be called again. */
  readonly start?: () => void;
  /** Called when the bridge ends. `callsEnded` resolves once no call runs: a feature that calls still ask waits for it. */
  readonly end?: (callsEnded: Promise<void>) => Promise<void> | void;
}
