/** What fields mean where their names do not say it, by schema. A name that a schema lacks does not compile. */
import type * as z from 'zod';
import type { ConversationInfo, ConversationList } from '../../../shared/conversations.ts';
import type {
  ChatResponse,
  ConversationView,
  Usage,
  UserMessage,
} from '../../../shared/documents.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import type { ApprovalRequest, ChatMessage, ChatRequest } from '../../../shared/requests.ts';
import type { CompletionRequest } from '../../openai/request.ts';

type Fields<Shape> = { readonly [Name in keyof Shape]?: string };

const CHAT_REQUEST: Fields<z.input<typeof ChatRequest>> = {
  model: 'Any name that the model server knows; without it the configured default answers.',
  mode: 'What may be done: in `plan` and `ask` nothing is changed. Without it `agent`.',
  messages: 'The last one must have the role user and must not be empty.',
  conversationId:
    'The messages are appended to this conversation; without it they begin a new one.',
  bridgeId:
    'The bridge of a new conversation; without it the account’s bridge that connected last.',
  context: 'What the client knows of the project and the editor.',
  tools: 'Only these are on offer; without it all that the mode allows.',
  availableTools: 'The same as settings by name; not together with `tools`.',
  include: 'What the answer shows beyond its documents: `reasoning` where the model tells it.',
  maxTokens: 'Of one request to the model; never more than the table of models allows.',
  user: 'Told to the model server: whose message this is.',
  documents: '`plain`: metadata stands beside the id, and a tool’s result is its text.',
  editOf:
    'Sends an edited message again: a new conversation begins with everything before this response’s message. Not together with `conversationId` or `bridgeId`.',
  delivery:
    'While the conversation is busy: wait for its turn, be refused with `CONVERSATION_BUSY`, be told to the run at work before its next request to the model, or end that run and then wait.',
  device: 'Shown to other devices beside the message.',
  stream: 'As events; `Accept: text/event-stream` asks for the same.',
};

const CHAT_MESSAGE: Fields<z.input<typeof ChatMessage>> = {
  role: 'A system message becomes a rule of this request.',
  content: `Text, or parts; ${REQUEST_LIMITS.maxMessageChars} characters of text in all, and images only from the user.`,
};

const COMPLETION_REQUEST: Fields<typeof CompletionRequest.shape> = {
  store: 'Keeps the conversation, and lists it; without it this is one answer, which is forgotten.',
  tools: 'Only empty: the agent brings its own tools, which run on the bridge.',
  n: 'There is one answer.',
};

const CHAT_RESPONSE: Fields<ChatResponse> = {
  usage: 'Null until the response has ended, and where the model server reports none.',
};

const CONVERSATION_VIEW: Fields<ConversationView> = {
  messages: 'Each belongs before the response with its `responseId`.',
  earlier: 'The first response here, for `before`; null where nothing comes before it.',
  position: 'Where to go on with the events: `after`.',
};

const CONVERSATION_INFO: Fields<ConversationInfo> = {
  title: 'From its first message, until somebody renames it.',
  updated: 'When it was last answered.',
};

const CONVERSATION_LIST: Fields<ConversationList> = {
  nextCursor: 'For the next page; null on the last one.',
};

const USER_MESSAGE: Fields<UserMessage> = {
  imageCount: 'How many images it holds besides its text.',
  device: 'The label of the device it was sent from.',
  steers: 'It was sent while the response was at work, and belongs into it.',
  afterSequence:
    'The last document before the model learned of a message that steers; missing until then.',
  cancelled: 'It was taken back while it waited: no response begins.',
};

const USAGE: Fields<Usage> = {
  totalTokens: 'Summed over the turns of the response.',
  cost: 'By the prices of the models that answered, where all of them are known.',
  unreportedRequests:
    'Requests to the model whose server reported no tokens: counts and cost lack them. Absent where there is none.',
};

const APPROVAL_REQUEST: Fields<z.input<typeof ApprovalRequest>> = {
  message: 'Told to the model with a rejection.',
  nonce: 'Of the question that was shown: an answer counts for that one only.',
  signature: 'By an enrolled device, over the question; an approval needs it.',
};

export const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ChatRequest: CHAT_REQUEST,
  PlanRequest: CHAT_REQUEST,
  ChatMessage: CHAT_MESSAGE,
  CompletionRequest: COMPLETION_REQUEST,
  ChatResponse: CHAT_RESPONSE,
  ConversationView: CONVERSATION_VIEW,
  ConversationInfo: CONVERSATION_INFO,
  ConversationList: CONVERSATION_LIST,
  UserMessage: USER_MESSAGE,
  Usage: USAGE,
  ApprovalRequest: APPROVAL_REQUEST,
};
