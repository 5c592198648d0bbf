/** The modes of a run: the present one, and those that it can have. Pure. */
import { Mode } from '../../../shared/wire/modes.ts';
import type { Machine, Run, RunMode } from '../store/rows.ts';

/** The mode of the run's next turn. */
export function modeOf({ request, switched }: Pick<Run, 'request' | 'switched'>): RunMode {
  return switched ?? request;
}

/** The name that people and the model use. */
export function nameOfMode({ mode, own }: RunMode): string {
  return own?.name ?? mode;
}

/** Whether a mode of the workspace leaves the run this tool. */
export function isOfMode({ own }: RunMode, { name }: { readonly name: string }): boolean {
  return own?.tools?.includes(name) ?? true;
}

/** The built-in mode or the workspace's mode with this name; undefined if there is none. */
export function findMode(name: string, machine: Machine | null): RunMode | undefined {
  const mode = Mode.safeParse(name).data;
  if (mode) return { mode };
  const own = machine?.context.definitions?.modes.find((one) => one.name === name);
  return own && { mode: own.base, own };
}

/** The names of all modes that a run on the machine can have. */
export function namesOfModes(machine: Machine | null): string[] {
  const own = machine?.context.definitions?.modes.map(({ name }) => name) ?? [];
  return [...Mode.options, ...own];
}
