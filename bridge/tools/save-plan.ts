/** Saves a plan in the folder for plans, which is closed to all other tools. A person sees the whole change first. */

import { compute } from '../../machine/compute/compute.ts';
import { EDIT_TASKS } from '../../packages/edits/tasks.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  bindTool,
  type Proposed,
  type ToolContext,
  toProposed,
  toWrite,
  unshaped,
} from '../../packages/host/index.ts';
import { readContentIfAny, replaceFileAt } from '../../packages/workspace/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { savePlan } from '../../shared/tools/save-plan.ts';
import { PLAN_FILE } from '../../shared/wire/plan-file.ts';

export const savingPlan: BridgeTool = {
  ...bindTool(savePlan, { propose }),
  definition: {
    ...savePlan,
    opens: PLAN_FILE,
    asks: 'A plan is to be saved here, in a folder that is otherwise closed to tools.',
  },
};

async function propose(
  { contents }: ArgumentsOf<typeof savePlan>,
  context: ToolContext,
): Promise<Proposed> {
  const place = toWrite(context.places[0]);
  const before = await readContentIfAny(place, context.signal);
  const file = { name: nameInLine(place.name), bytes: before?.bytes ?? null };
  const request = { ...file, proposed: Buffer.from(contents), content: contents };
  const edited = await compute(EDIT_TASKS.amendEdit, request, context.signal);
  const carryOut = async (bytes: Uint8Array | null, { keep, signal }: ToolContext) => {
    if (bytes === null) return;
    await replaceFileAt(place, bytes, { expected: before?.hash ?? null, keep, signal });
  };
  return toProposed({ tool: savePlan.name, place, before, context, carryOut }, unshaped(edited));
}
