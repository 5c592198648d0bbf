/** Formats an edit before it is proposed. */

import { compute } from '../../../machine/compute/compute.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import { EDIT_TASKS } from '../../edits/tasks.ts';
import { decode } from '../../edits/text.ts';
import type { EditShape } from '../../host/index.ts';
import type { Formatters } from './formatters.ts';

/** Only text in UTF-8 is formatted. An edit whose formatter fails goes on as it is, with the reason. */
export function formattingShape(formatters: Formatters): EditShape {
  return async (shaped, { place, before }, { callId, signal }) => {
    const { bytes: proposed, data } = shaped.edited;
    const decoded = proposed && decode(proposed);
    if (!proposed || decoded?.kind !== 'utf8') return shaped;
    const { text } = decoded;
    const formatting = await formatters.format({ callId, path: place.path, text }, signal);
    switch (formatting.state) {
      case 'none':
        return shaped;
      case 'failed': {
        const { reason } = formatting;
        const notes = [...shaped.notes, `Not formatted: ${reason}.`];
        return { ...shaped, notes, metadata: { ...shaped.metadata, not_formatted: reason } };
      }
      case 'formatted': {
        const metadata = { ...shaped.metadata, formatted_by: formatting.by };
        const formatted = { ...shaped, metadata, isFormatted: true };
        if (formatting.text === text) return formatted;
        const amendment = {
          name: nameInLine(place.name),
          bytes: before?.bytes ?? null,
          proposed,
          content: formatting.text,
          formatter: { name: formatting.by, data },
        };
        return { ...formatted, edited: await compute(EDIT_TASKS.amendEdit, amendment, signal) };
      }
      default:
        return formatting satisfies never;
    }
  };
}
