/** Reads the environment variables that a companion sets in its editor's shells. */
import { type Announcement, type Gathered, Pid, Port, Token } from './announcement.ts';
import type { Family, PassedOver, SearchPlace } from './candidate.ts';
import { CHOICE, FAMILIES } from './families.ts';

/** What the environment says beside announcements: who is preferred. */
export interface Preference {
  /** The owner's choice of a companion. */
  readonly chosenPort: number | undefined;
  /** The person's choice of an editor's process. */
  readonly chosenPid: number | undefined;
  /** The companions of the window whose shell this is. */
  readonly shellPorts: ReadonlySet<number>;
}

export function readVariables({ environment }: SearchPlace): Gathered & Preference {
  const read = (Object.keys(FAMILIES) as Family[]).map((family) => readFamily(environment, family));
  const announcements = read.flatMap((each) => each.announcements);
  const passedOver = read.flatMap((each) => each.passedOver);
  const pid = environment[FAMILIES.gemini.variables.pid ?? ''];
  const choice = environment[CHOICE];
  const chosenPort = choice ? portIn(choice) : undefined;
  if (choice && chosenPort === undefined) passedOver.push({ source: CHOICE, why: NO_PORT });
  return {
    announcements,
    passedOver,
    chosenPort,
    chosenPid: pid ? Pid.safeParse(Number(pid)).data : undefined,
    shellPorts: new Set(announcements.map(({ port }) => port)),
  };
}

const NO_PORT = 'its value is no port: a port is a number from 1 to 65535';
const NO_PROGRAM = 'Drawbridge starts no program that a variable names, and needs the port';

function readFamily(
  environment: SearchPlace['environment'],
  family: Family,
): { announcements: Announcement[]; passedOver: PassedOver[] } {
  const { variables } = FAMILIES[family];
  const text = environment[variables.port];
  const passedOver = environment[variables.program]
    ? [{ source: variables.program, why: NO_PROGRAM }]
    : [];
  if (!text) return { announcements: [], passedOver };
  const port = portIn(text);
  if (port === undefined) {
    passedOver.push({ source: variables.port, why: NO_PORT });
    return { announcements: [], passedOver };
  }
  const token = Token.safeParse(environment[variables.token ?? '']).data;
  const folders = environment[variables.roots];
  const announcement = {
    family,
    source: variables.port,
    port,
    changedMs: 0,
    ...(token && { token }),
    ...(folders !== undefined && { folders }),
  };
  return { announcements: [announcement], passedOver };
}

function portIn(text: string): number | undefined {
  return Port.safeParse(text.trim()).data;
}

/**
 * A port in a variable and the same port in a file are one companion: the file counts, because a shell keeps old values,
 * and the variables give what the file lacks. A variable that knows another token stays an announcement of its own.
 */
export function joinVariables(
  files: readonly Announcement[],
  variables: readonly Announcement[],
): readonly Announcement[] {
  const joined = files.map((file) => {
    const variable = variables.find(({ port }) => port === file.port);
    return { ...variable, ...file };
  });
  const alone = variables.flatMap((variable) => {
    const same = joined.filter(({ port }) => port === variable.port);
    const isKnown = same.some(({ token }) => !variable.token || token === variable.token);
    return isKnown ? [] : [{ ...same[0], ...variable }];
  });
  return [...joined, ...alone];
}
