/** The rooms of a bridge whose calls all work in one folder. */
import type { CallRoom } from '../../bridge/admission/admit.ts';
import type { CallRooms } from '../../bridge/admission/call-life.ts';

export function roomsOf(room: CallRoom): CallRooms {
  return { workspace: room, of: async () => room, during: async (_, work) => await work() };
}
