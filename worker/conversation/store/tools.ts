/** Which tool a stored call means. */
import { findTool, runsOnEdge } from '../../../shared/tools/catalogue.ts';
import type { Call } from './rows.ts';

/** The canonical name of the call's tool; the model's own word for one that does not exist. */
export function toolNameOf({ name }: Pick<Call, 'name'>): string {
  return findTool(name)?.name ?? name;
}

/** Whether the call is for the conversation itself, and not for its bridge. */
export function isForEdge({ name }: Pick<Call, 'name'>): boolean {
  const tool = findTool(name);
  return tool !== undefined && runsOnEdge(tool);
}
