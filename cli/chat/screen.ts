/** Shows the events of a response to a person, to a person and a pipe, or to a program. */
import type { Positioned } from '../../client/index.ts';
import { nothingShown, type RenderState, renderEvent } from '../render/render.ts';
import type { ResponseView } from '../render/text.ts';
import { type Paint, plain } from '../terminal/paint.ts';
import { jsonLine, type Terminal } from '../terminal/terminal.ts';

export interface Screen {
  show(positioned: Positioned): void;
}

/** A terminal gets everything; a pipe the answer, with the rest on stderr; JSON an event each line, no heartbeats. */
export function openScreen(terminal: Terminal, format: 'text' | 'json'): Screen {
  const { paint, write, writeOut } = terminal;
  if (format === 'json') {
    return {
      show({ event, position }) {
        if (event.type === 'heartbeat') return;
        const asItCame =
          event.type === 'unknown' ? { ...Object(event.data), type: event.name } : event;
        writeOut(jsonLine({ ...asItCame, position }));
      },
    };
  }
  if (!terminal.isPiped) return newView('all', paint, write);
  const views = [newView('answer', plain, writeOut), newView('progress', paint, write)];
  return {
    show: (positioned) => {
      for (const view of views) view.show(positioned);
    },
  };
}

function newView(view: ResponseView, paint: Paint, write: (text: string) => void): Screen {
  let screen: RenderState = nothingShown(view);
  return {
    show({ event }) {
      if (event.type === 'unknown') return;
      const { state, text } = renderEvent(screen, event, paint);
      screen = state;
      write(text);
    },
  };
}
