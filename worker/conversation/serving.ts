/** Serves readers and followers. A read or a follower also resumes a run that an earlier instance left. */
import type { MessageImages } from '../../shared/api/answers.ts';
import type { ApprovalList } from '../../shared/api/listings.ts';
import { imagesOf, type MessageContent } from '../../shared/api/requests.ts';
import { openAsksIn } from '../../shared/shown/asks.ts';
import { OpenApproval, OpenQuestions } from '../../shared/wire/approvals.ts';
import { type ImagePieces, PlacedImages } from '../images/put-in.ts';
import { runOf } from './found.ts';
import type { Parts } from './parts.ts';
import { privacyOf } from './privacy.ts';
import type { FollowRequest, ReadRequest } from './reading/requests.ts';
import type { Followers } from './tape/followers.ts';
import { contentOf } from './tape/run-events.ts';

/** Without the resumption, the run may wait a minute for its alarm. */
export function serveRead(
  parts: Parts,
  wanted: ReadRequest['wanted'],
  pieces: ImagePieces,
): Response {
  const places = new PlacedImages(pieces);
  const text = JSON.stringify(documentOf(parts, wanted, places));
  const body = places.fill(text);
  const answer = new Response(body, { headers: { 'content-type': 'application/json' } });
  parts.runner.advance();
  return answer;
}

/** Opens a WebSocket with the past events, then the live ones. 204 when the reader has seen the whole response. */
export function serveFollower(
  parts: Parts,
  followers: Followers,
  { following, ordinal, cursor }: FollowRequest,
): Response {
  const run = ordinal === null ? null : runOf(parts, ordinal);
  const past = parts.reader.past(following, run, cursor);
  if (run && run.last !== null && cursor >= run.last) return new Response(null, { status: 204 });
  const { 0: client, 1: server } = new WebSocketPair();
  followers.attach(server, following, past);
  parts.runner.advance();
  return new Response(null, { status: 101, webSocket: client });
}

function documentOf(parts: Parts, wanted: ReadRequest['wanted'], places: PlacedImages): object {
  const { reader, memory } = parts;
  switch (wanted.type) {
    case 'response':
      return reader.response(runOf(parts, wanted.ordinal));
    case 'images':
      return imagesIn(contentOf(runOf(parts, wanted.ordinal).request), places);
    case 'newest':
      if (wanted.newest.before !== null) runOf(parts, wanted.newest.before);
      return { ...reader.views.newest(wanted.newest), privacy: privacyOf(parts) };
    case 'chapter':
      return reader.views.chapter(wanted.from);
    case 'asks':
      void parts.activity.report(); // The account may have marked the conversation without knowing.
      return openAsksOf(parts);
    case 'rules':
      return memory.reportRules();
  }
}

/** Without those that are lost. */
function imagesIn(content: MessageContent, places: PlacedImages): MessageImages {
  const urls = imagesOf(content).map(({ image_url: { url } }) => places.place(url));
  return { items: urls.filter((url) => url !== 'lost').map((url) => ({ url })) };
}

function openAsksOf({ listing, recorder }: Parts): ApprovalList {
  const asks = openAsksIn(listing.row, recorder.response);
  return {
    items: asks.flatMap((ask) => OpenApproval.safeParse(ask).data ?? []),
    questions: asks.flatMap((ask) => OpenQuestions.safeParse(ask).data ?? []),
  };
}
