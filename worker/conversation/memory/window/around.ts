/** What a message has besides its words: the machine, the editor and the rules. Pure. */

import {
  ACTIVE_ALREADY,
  type ActiveSkill,
  type ActiveSkills,
  fitRules,
  isActive,
  type KnownRules,
  type KnownSkills,
  type ModeWords,
  mentionsIn,
  NO_RULES,
  NO_SKILLS,
  overlaid,
  PROMPT_LIMITS,
  renderEditHistory,
  renderFindings,
  renderMode,
  renderRules,
  renderSkillList,
  renderSurroundings,
  rulesChars,
  type SentMode,
  type Sources,
  type Surroundings,
  skillAttached,
  skillGiven,
  surroundingsOf,
  withSkills,
} from '../../../../packages/prompt/index.ts';
import { placesIn, textOf } from '../../../../shared/api/requests.ts';
import type { Attachment } from '../../../../shared/wire/findings.ts';
import type { RuleSet } from '../../../../shared/wire/rules.ts';
import type { Window } from '../../store/rows.ts';
import { filesOfCalls, filesOfRequest, inWorkspace } from './touched.ts';
import type { Piece, SentRun } from './transcript.ts';

/** What the model has seen at some place. */
export interface KnownAround {
  /** Null at the start of a window. */
  readonly mode: SentMode | null;
  /** Null where it has seen nothing of the machine and the editor. */
  readonly surroundings: Surroundings | null;
  readonly rules: KnownRules;
  readonly skills: KnownSkills;
  /** The files of the last turn's calls, whose rules the next message shows. */
  readonly touched: readonly string[];
}

/** At the start of a window: the texts of skills are in its digest. */
export function knownAtStart(window: Window | null): KnownAround {
  const active = withSkills(NO_SKILLS.active, window?.digest?.skills ?? []);
  return { ...NOTHING_KNOWN, skills: { ...NO_SKILLS, active } };
}

const NOTHING_KNOWN: KnownAround = {
  mode: null,
  surroundings: null,
  rules: NO_RULES,
  skills: NO_SKILLS,
  touched: [],
};

export interface AroundPiece {
  /** With a note in place of a skill's text that the model has already. */
  readonly piece: Piece;
  /** Before the piece. */
  readonly known: KnownAround;
  /** The parts that precede the words of the message that the run answers. */
  readonly around: readonly string[];
  /** A message of its own: the mode and the rules that begin to apply in the middle of the run. Null without any. */
  readonly midway: string | null;
}

interface Listening {
  /** The model's room for a prompt, in UTF-16 units. */
  readonly room: number;
  readonly modeWords?: ModeWords | undefined;
}

/** The pieces in order, from a place where the model had seen `known`. */
export function aroundPieces(
  pieces: readonly Piece[],
  known: KnownAround,
  listening: Listening,
): AroundPiece[] {
  let before = known;
  return pieces.map((piece) => {
    const { sent, after } = aroundPiece(piece, before, listening);
    before = after;
    return sent;
  });
}

/** What the model has seen after the pieces. */
export function knownAfter(
  pieces: readonly Piece[],
  known: KnownAround,
  listening: Listening,
): KnownAround {
  return pieces.reduce((before, piece) => aroundPiece(piece, before, listening).after, known);
}

/** The mode and the rules are a part of the run's message; where the window begins behind it, they come first. */
function aroundPiece(
  piece: Piece,
  known: KnownAround,
  { room, modeWords }: Listening,
): { readonly sent: AroundPiece; readonly after: KnownAround } {
  const { run, utterances } = piece;
  const isAsked = utterances.some(({ as }) => as === 'asked');
  const said = saidIn(piece);
  const files = isAsked ? filesOfRequest(run) : known.touched;
  const named = [...mentionsIn(said), ...pathsIn(piece)];
  const touched = [...files, ...inWorkspace(named, run)];
  const set = rulesOf(run, room);
  const rules = renderRules(set, { touched, said }, known.rules);
  const list = renderSkillList(run.machine?.context.skills, known.skills.listed);
  const { answered, active } = withoutRepeated(piece, known.skills.active);
  const mode = modeParts(piece, known, { room, modeWords });
  const after = {
    mode: piece.mode,
    surroundings: known.surroundings,
    rules: rules.known,
    skills: { active, listed: list.listed },
    touched: filesOfCalls(answered?.turn.calls ?? [], piece),
  };
  if (!isAsked) {
    const midway = [...mode, ...rules.parts, ...list.parts].join('\n\n') || null;
    return { sent: { piece: { ...piece, answered }, known, around: [], midway }, after };
  }
  const now = around(run, room);
  const parts = [
    ...renderSurroundings(now, known.surroundings),
    ...mode,
    ...rules.parts,
    ...list.parts,
    ...renderEditHistory(sourcesOf(run), room),
    ...renderFindings(run.machine?.findings, { rules: set, skills: known.skills.active }, room),
  ];
  return {
    sent: { piece: { ...piece, answered }, known, around: parts, midway: null },
    after: { ...after, surroundings: overlaid(known.surroundings, now) },
  };
}

/** The texts that the piece gives, and its turn without those that the model has already. */
function withoutRepeated(
  { run, utterances, answered, toolbox }: Piece,
  known: ActiveSkills,
): { readonly answered: Piece['answered']; readonly active: ActiveSkills } {
  let active = withSkills(known, attachedIn({ run, utterances }));
  if (!answered) return { answered, active };
  const results = answered.results.map((result, index) => {
    const call = answered.turn.calls[index];
    const given = call && skillGiven(call, result, toolbox);
    if (!result || !given) return result;
    if (isActive(active, given)) return { ...result, data: ACTIVE_ALREADY };
    active = withSkills(active, [given]);
    return result;
  });
  return { answered: { ...answered, results }, active };
}

/** The skills and commands that the messages before a turn name. */
export function attachedIn({ run, utterances }: Pick<Piece, 'run' | 'utterances'>): ActiveSkill[] {
  const isAsked = utterances.some(({ as }) => as === 'asked');
  const asked = isAsked ? (run.machine?.findings?.attachments ?? []) : [];
  const steered = utterances.flatMap(({ attachments = [] }) => attachments);
  return [...asked, ...steered].flatMap((attachment) => skillAttached(attachment) ?? []);
}

/** The system prompt shows the run's own mode, but not what a file says of it. */
function modeParts(
  { run, mode }: Pick<Piece, 'run' | 'mode'>,
  { mode: known }: KnownAround,
  { room, modeWords }: Pick<Listening, 'room' | 'modeWords'>,
) {
  const maxChars = Math.floor(room * PROMPT_LIMITS.maxShare);
  return renderMode(mode, known ?? { mode: run.request.mode }, { maxChars, words: modeWords });
}

/** The words of the user's message and of steers. */
function saidIn({ utterances }: Piece): string {
  return utterances
    .filter(({ as }) => as !== 'plain')
    .map(({ message }) => textOf(message.content))
    .join('\n');
}

/** The paths that these messages hand over. */
function pathsIn({ utterances }: Piece): string[] {
  const places = utterances.flatMap(({ as, message }) =>
    as === 'plain' ? [] : placesIn(message.content),
  );
  return places.flatMap((place) => (place.type === 'path' ? [place.path] : []));
}

/** The UTF-16 units of the full surroundings, which a run's message has where it is the first of a window. */
export function wholeChars(run: SentRun, room: number): number {
  const mode = modeParts({ run, mode: run.request }, NOTHING_KNOWN, { room });
  return [...renderSurroundings(around(run, room), null), ...mode].join('\n\n').length;
}

/** The parts that precede a message that steers the run. */
export function aroundSteer(
  attachments: readonly Attachment[] = [],
  run: SentRun,
  { room, known }: { readonly room: number; readonly known: KnownAround },
): string[] {
  if (attachments.length === 0) return [];
  const sent = { rules: rulesOf(run, room), skills: known.skills.active };
  return renderFindings({ attachments, touched: [] }, sent, room);
}

/** The UTF-16 units of all rules of a run. */
export function allRulesChars(run: SentRun, room: number): number {
  return rulesChars(rulesOf(run, room));
}

function rulesOf({ machine }: SentRun, room: number): RuleSet | undefined {
  return fitRules(machine?.context.rules, room);
}

function around(run: SentRun, room: number): Surroundings {
  return surroundingsOf(sourcesOf(run), room);
}

function sourcesOf({ request, machine }: SentRun): Sources {
  const { createdMs, worktree } = request;
  const { context: seen = null, findings } = machine ?? {};
  const { projectLayout: _, gitStatus: __, ...elsewhere } = request.context ?? {};
  // The client's tree and status are those of the person's folder.
  const context = worktree && request.context ? elsewhere : request.context;
  return { createdMs, context, machine: seen, findings };
}
