/** Descriptions of fields whose names do not explain them, by schema. Unknown field names do not compile. */
import type * as z from 'zod';
import { DOORS } from '../../../doors/index.ts';
import type { ConversationInfo, ConversationList } from '../../../shared/api/conversations.ts';
import type { ApprovalRequest, ChatMessage, ChatRequest } from '../../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import type {
  ChatResponse,
  ConversationView,
  Usage,
  UserMessage,
} from '../../../shared/wire/documents.ts';

type FieldTexts<Shape> = { readonly [Name in keyof Shape]?: string };

const CHAT_REQUEST: FieldTexts<z.input<typeof ChatRequest>> = {
  model: 'A name that the model server knows. By default the configured model answers.',
  mode: 'In `plan` and `ask` the agent changes nothing. The default is `agent`. A mode that the workspace of the bridge defines goes by its name.',
  questions:
    'Whether the agent may ask the person, and what happens without an answer within `afterSeconds`.',
  messages: 'The last one must have the role user and must not be empty.',
  conversationId:
    'The messages are appended to this conversation. Without it they begin a new one.',
  bridgeId:
    'The bridge of a new conversation. By default the one that the token names, or the account’s only one.',
  context: 'What the client knows of the project and the editor.',
  tools: 'The agent may use only these tools. By default all tools that the mode allows.',
  availableTools: 'The same as settings by name. Not allowed together with `tools`.',
  include: 'What the answer shows in addition: `reasoning`, if the model sends it.',
  maxTokens: 'The most tokens of one answer of the model. The table of models may allow fewer.',
  user: 'Sent to the model server: the user of this message.',
  documents: '`plain`: metadata fields stand beside `id`, and a tool’s result is its text.',
  editOf:
    'Sends an edited message again: a new conversation begins with everything before this response’s message. Not together with `conversationId` or `bridgeId`.',
  delivery:
    'While the conversation is busy, the message waits for its turn, is refused with `CONVERSATION_BUSY`, goes to the current run before its next request to the model, or ends that run and then waits.',
  device: 'Shown to other devices beside the message.',
  stream: 'Asks for a stream of events, like `Accept: text/event-stream`.',
};

const CHAT_MESSAGE: FieldTexts<z.input<typeof ChatMessage>> = {
  role: 'A system message becomes a rule of this request.',
  content: `Text, or parts. At most ${REQUEST_LIMITS.maxMessageChars} characters of text in all. Only the user may send images.`,
};

const CHAT_RESPONSE: FieldTexts<ChatResponse> = {
  usage: 'Null before the end of the response, and if the model server reports no usage.',
};

const CONVERSATION_VIEW: FieldTexts<ConversationView> = {
  messages: 'Each message belongs before the response with its `responseId`.',
  earlier: 'The first response of this part, for `before`. Null if nothing comes before it.',
  position: 'The value of `after` to follow the events from here.',
};

const CONVERSATION_INFO: FieldTexts<ConversationInfo> = {
  title: 'Taken from the first message, unless the conversation was renamed.',
  updated: 'The time of the last answer.',
};

const CONVERSATION_LIST: FieldTexts<ConversationList> = {
  nextCursor: 'The `cursor` of the next page. Null on the last page.',
};

const USER_MESSAGE: FieldTexts<UserMessage> = {
  imageCount: 'The number of images beside the text.',
  device: 'The label of the sending device.',
  steers: 'The message was sent during the response, and belongs to it.',
  afterSequence:
    'The last document before the model received a message that steers. Missing until then.',
  cancelled: 'The message was withdrawn while it waited, so it gets no response.',
  preview: 'The message asks for the preview of an undo. No model learns of it or its response.',
};

const USAGE: FieldTexts<Usage> = {
  totalTokens: 'Summed over the turns of the response.',
  cost: 'By the prices of the models that answered. Missing if one of the prices is unknown.',
  unreportedRequests:
    'The number of requests to the model whose server reported no tokens. Counts and cost do not include them. Missing if there are none.',
};

const APPROVAL_REQUEST: FieldTexts<z.input<typeof ApprovalRequest>> = {
  message: 'Passed on to the model with a rejection.',
  content:
    'The whole file as the person wants it instead of the proposed one. Only with `once`, for a change to a file. The signature covers it.',
  nonce: 'The nonce of the question that was shown. The answer counts only for this question.',
  signature: 'Made by an enrolled device over the question. An approval needs it.',
};

export const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ChatRequest: CHAT_REQUEST,
  PlanRequest: CHAT_REQUEST,
  ChatMessage: CHAT_MESSAGE,
  ChatResponse: CHAT_RESPONSE,
  ConversationView: CONVERSATION_VIEW,
  ConversationInfo: CONVERSATION_INFO,
  ConversationList: CONVERSATION_LIST,
  UserMessage: USER_MESSAGE,
  Usage: USAGE,
  ApprovalRequest: APPROVAL_REQUEST,
  ...Object.fromEntries(DOORS.flatMap(({ fields = {} }) => Object.entries(fields))),
};
