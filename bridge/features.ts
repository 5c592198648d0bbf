/** The features of a bridge. Edits are shaped, and the model's questions are answered, in this order. */
import { undo } from './checkpoints/feature.ts';
import { commands } from './commands/feature.ts';
import { completion } from './completion/feature.ts';
import { definitions } from './definitions/feature.ts';
import type { BridgeGround, Feature } from './feature.ts';
import { codeChecks } from './features/code-checks.ts';
import { codeIndex } from './features/code-index.ts';
import { editors } from './features/editors.ts';
import { formatting } from './features/formatting.ts';
import { offeredTools } from './features/offered-tools.ts';
import { hooks } from './hooks/feature.ts';
import { processes } from './ports/feature.ts';
import { rules } from './rules/feature.ts';
import { skills } from './skills/feature.ts';
import { web } from './web-tools/feature.ts';

export function newFeatures(ground: BridgeGround): readonly Feature[] {
  const editor = editors(ground);
  return [
    commands(ground),
    codeIndex(ground),
    // What is checked is what would be written.
    formatting(ground),
    // The editor of the machine is asked what is wrong in files before language servers are.
    editor,
    codeChecks(ground),
    web(ground),
    skills(ground),
    rules(ground),
    definitions(ground),
    undo(ground),
    hooks(ground),
    offeredTools(ground),
    processes(ground),
    completion(ground, editor.openFiles),
  ];
}
