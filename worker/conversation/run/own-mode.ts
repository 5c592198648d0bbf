/** The modes that the workspace of a run's machine defines. */

import { isConfigured, type ModelEnv, resolveTarget } from '../../../packages/model/index.ts';
import { imagesOf } from '../../../shared/api/requests.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { findMode, namesOfModes } from '../log/modes.ts';
import type { Machine, RequestFields } from '../store/rows.ts';

/** In the mode that the request names, with its model where that is open. @throws UNKNOWN_MODE if there is none */
export function inWantedMode<Request extends RequestFields>(
  request: Request,
  machine: Machine | null,
  settings: ModelEnv,
): Request {
  const { wantedMode } = request;
  if (!wantedMode) return request;
  const found = findMode(wantedMode.name, machine);
  if (!found) throw unknownMode(wantedMode.name, machine);
  const model = found.own?.model;
  const isMine = wantedMode.isModelOpen && model !== undefined && takes(request, model, settings);
  return { ...request, ...found, ...(isMine && { model }) };
}

function takes({ messages }: RequestFields, model: string, settings: ModelEnv): boolean {
  if (!isConfigured(model, settings)) return false;
  const holdsImages = messages.some(({ content }) => imagesOf(content).length > 0);
  return !holdsImages || resolveTarget(model, settings).takesImages;
}

function unknownMode(name: string, machine: Machine | null): DrawbridgeError {
  const modes = namesOfModes(machine);
  const leftOut = machine?.context.definitions?.leftOut ?? [];
  const why = leftOut.find(({ path }) => path.endsWith(`/modes/${name}.md`));
  const unused = why ? ` (${why.path} defines none: ${why.reason})` : '';
  const message = `mode: there is no mode ${name} here${unused}: use one of ${modes.join(', ')}`;
  return new DrawbridgeError('UNKNOWN_MODE', message, { details: { modes } });
}
