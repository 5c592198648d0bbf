/** Every text of the page, in English. */

/** Of the frame and of the list. */
export const frame = {
  // The frame
  inbox: 'Waiting for you',
  settings: 'Settings',
  palette: 'Go to a conversation, or do something',
  back: 'Back',
  more: 'More',
  offline: 'You are offline. What you write is sent later.',
  replaced: (folder: string) =>
    `A second program has taken over ${folder}. If you have not started one, look at Settings.`,
  notLoaded: 'This part of the page could not be loaded. Reload the page.',

  // Why one is signed out
  linkUsed: 'The link has run out, or another device has used it. Ask for a new one.',
  ended: 'This device was signed out. Sign in again to go on.',

  // The list
  search: 'Search',
  nothingFound: 'Nothing found.',
  noConversations: 'No conversation yet.',
  showArchived: 'Archived',
  agents: 'Background agents',
  rename: 'Rename',
  renameTo: 'New name',
  archive: 'Archive',
  unarchive: 'Take out of the archive',
  removeSure: (title: string) => `Delete “${title}” with everything in it?`,
  exportMarkdown: 'Export as Markdown',
  exportJson: 'Export as JSON',
  machineState: { online: 'online', offline: 'offline', unknown: 'unknown while offline' },
  agentStatus: {
    queued: 'queued',
    running: 'running',
    waiting: 'waiting',
    completed: 'done',
    error: 'failed',
    cancelled: 'stopped',
    archived: 'archived',
  } as Readonly<Record<string, string>>,

  // The bar above a thread
  privateUntil: (hours: number) =>
    hours === 0
      ? 'Private: deleted when it is answered'
      : `Private: deleted ${hours} h after the last answer`,
  contextHelp: 'Filled of the model’s window',

  ofSubagent: 'A subagent works here and takes no messages.',
  openParent: 'To the conversation that started it',

  // What else is shown outside of a thread
  noMachines: 'No machine is connected. In a folder with code, run:',
  rules: 'Rules',
  imageOfMessage: (number: number, count: number) => `Image ${number} of ${count}`,
  subagents: 'Subagents',
  openConversation: 'Open its conversation',
  refused: 'Not sent:',
};

/** Of a thread, which also an element in the page of an app shows. */
export const thread = {
  newConversation: 'New conversation',
  connecting: 'Connecting…',
  lost: 'Connection lost. Trying again…',
  waits: {
    rate_limited: (at: string) => `The model server limits requests. It is asked again at ${at}.`,
    unavailable: (at: string) => `The model server does not answer. It is asked again at ${at}.`,
  },
  close: 'Close',
  cancel: 'Cancel',
  copy: 'Copy',
  copied: 'Copied',
  loadMore: 'Show more',
  you: 'You',
  agent: 'Agent',
  earlier: 'Show earlier messages',
  newBelow: 'New below',
  notFound: 'This conversation is not there. It may have been deleted.',
  textDeleted: 'The text of this private conversation was deleted.',
  taken: 'Withdrawn',
  queued: 'Waits for its turn',
  steers: 'Sent during the answer',
  images: (count: number) => (count === 1 ? '1 image' : `${count} images`),
  edit: 'Edit',
  editAgain: 'Change it and send it again, in a new conversation',
  save: 'Save',
  remove: 'Delete',
  takeBack: 'Take back',
  tryAgain: 'Try again',
  fork: 'Fork',
  forkHelp: 'Go on from here in a new conversation',
  undo: 'Undo',
  undoHelp: 'Take back what this answer changed in files',
  undoLead: 'This undo would change:',
  undoNothing: 'This answer changed nothing to undo.',
  undoNow: 'Undo',
  status: {
    queued: 'Queued',
    streaming: 'Answering',
    waiting: 'Waiting for you',
    completed: 'Complete',
    error: 'Failed',
    cancelled: 'Stopped',
  } as Readonly<Record<string, string>>,
  unavailable: 'Not available in this answer:',
  reasoning: 'Reasoning',
  lines: (start: number, end: number) =>
    start === end ? `line ${start}` : `lines ${start}–${end}`,
  operation: {
    create: 'Created',
    edit: 'Edited',
    delete: 'Deleted',
    rename: 'Renamed',
  } as Readonly<Record<string, string>>,
  operationOpen: {
    create: 'Create',
    edit: 'Edit',
    delete: 'Delete',
    rename: 'Rename',
  } as Readonly<Record<string, string>>,
  notApplied: 'Not applied',
  notChecked: 'Not checked:',
  checkedBy: (by: string) => `Checked by ${by}`,
  exit: (code: number) => (code === 0 ? 'Done' : `Exit code ${code}`),
  running: 'Running',
  moreLines: (count: number) => (count === 1 ? '1 more line' : `${count} more lines`),
  fewerLines: 'Fold',
  plan: 'Plan',
  overview: 'Overview',
  executePlan: 'Carry out the plan',
  savePlan: 'Save as a file',
  todos: 'To do',
  todoStatus: {
    pending: 'open',
    in_progress: 'in progress',
    completed: 'done',
    cancelled: 'dropped',
  } as Readonly<Record<string, string>>,
  moveUp: 'Move up',
  moveDown: 'Move down',
  planChanged: 'Somebody changed the plan to this.',
  unknownDocument: (type: string) =>
    `This page is older than what the server sent (${type}). Reload it.`,
  imageOf: (host: string) => `Image of ${host}: open`,
  subagent: 'Subagent',
  tokens: (count: string) => `${count} tokens`,

  // Writing and answering
  message: 'Message',
  send: 'Send',
  stop: 'Stop',
  notSent: 'Not sent yet',
  chooseFirst: 'Choose an answer, or skip.',
  answer: 'Answer',
  skip: 'Skip',
  ownWords: 'In your own words',
  answered: {
    once: 'Allowed once',
    conversation: 'Allowed in this conversation',
    always: 'Allowed from now on',
    reject: 'Rejected',
    expired: 'Ended',
  } as Readonly<Record<string, string>>,
  by: {
    device: 'at a device',
    terminal: 'at the machine',
    editor: 'in the editor',
    drawbridge: 'without an answer',
  } as Readonly<Record<string, string>>,

  // In the page of an app
  waitsElsewhere: 'Waits for a yes on another device.',
  embedNeeds: 'This element needs its properties `server` and `token`.',
};

/** Of the composer and of approvals. */
export const asking = {
  // The composer
  steer: 'Send now',
  steerHelp: 'The agent reads it before its next step',
  queue: 'Queue',
  notAnImage: 'Only PNG, JPEG, WebP and GIF images can be attached.',
  queueHelp: 'It waits for the end of the answer',
  mode: 'Mode',
  modes: {
    agent: 'Agent',
    plan: 'Plan',
    ask: 'Ask',
    debug: 'Debug',
  } as Readonly<Record<string, string>>,
  model: 'Model',
  defaultModel: 'Default model',
  machine: 'Machine',
  machineAway: (folder: string, when: string) =>
    `The machine of ${folder} is not connected (last ${when}): what the agent does there waits for it. Run there:`,
  attach: 'Attach an image',
  removeImage: 'Remove the image',
  imageTooLarge: 'The images are too large for one message.',
  offers: 'What this can become',
  offered: { file: '', folder: 'folder', rule: 'rule' },

  // Approvals and questions
  asks: {
    edit: 'Change this file?',
    command: 'Run this command?',
    call: 'Let this tool run?',
    elicitation: 'Answer this server?',
  } as Readonly<Record<string, string>>,
  moreAnswers: 'Other answers, and a reason',
  nothingWaits: 'Nothing waits for you.',
  allows: 'Allow once',
  allowsByPasskey: 'Allow once by passkey',
  reach: {
    once: 'This call alone.',
    site: (site: string) => `Pages of ${site}, in this conversation.`,
    conversation: 'Every call that matches the pattern, until this conversation ends.',
    always:
      'Every call that matches the pattern in this folder, until it is taken back at the machine.',
  },
  allowConversation: 'Allow in this conversation',
  allowAlways: 'Always allow',
  pattern: 'What is allowed, one pattern on each line',
  patternCount: (count: number) => `It takes ${count} patterns, each on a line of its own.`,
  patternMismatch: (text: string) => `The pattern does not match ${text}.`,
  reject: 'Reject',
  rejectWhy: 'Reason for the agent (optional)',
  cannotApprove:
    'This browser is not enrolled at that machine, so it can only reject. Approve there, or run there:',
  perhapsApproves:
    'If the question comes back, this browser is not enrolled at that machine. Run there:',
  goneElsewhere: 'It waits no more.',
};
