/** What doors read requests and answers with. It needs no runtime: Node runs the tests of what stands on it. */

export { tagged } from '../packages/prompt/index.ts';
export { ResponseFold } from './conversation/tape/response-fold.ts';
export { heldIn } from './images/marker.ts';
export { isTextType } from './images/take-out.ts';
export type { WaitingImages } from './images/waiting.ts';
