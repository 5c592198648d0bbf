/** Every text of the page, in English. */

/** Of the frame, of signing in and of the list. */
export const frame = {
  // The frame
  inbox: 'Waiting for you',
  settings: 'Settings',
  back: 'Back',
  more: 'More',
  offline: 'You are offline. What you write is sent later.',

  // Signing in
  signIn: 'Sign in',
  signInLead: 'Conversations live on this server; files and commands stay on your machines.',
  signInHere: 'On the machine where Drawbridge runs:',
  signInLink: 'With a link from somebody who is signed in, or from the server’s operator:',
  linkLabel: 'Link of the invitation',
  signInCode: 'With a device that is signed in already:',
  showCode: 'Show a code',
  codeLead: 'On that device, approve this code if the fingerprint is the same:',
  fingerprint: 'Fingerprint',
  codeRefused: 'The request was refused.',
  linkWrong: 'That is no invitation. Its link ends in #join= and a secret.',
  linkUsed: 'The link has run out, or another device has used it. Ask for a new one.',
  ended: 'This device was signed out. Sign in again to go on.',
  signOut: 'Sign out',
  signOutAnyway:
    'The server does not answer, so this device stays in its list until somebody ends it there. Forget everything here all the same?',
  signOutSure: 'Sign this browser out, and forget what it keeps?',

  // The list
  search: 'Search',
  nothingFound: 'Nothing found.',
  noConversations: 'No conversation yet.',
  showArchived: 'Archived',
  rename: 'Rename',
  renameTo: 'New name',
  archive: 'Archive',
  unarchive: 'Take out of the archive',
  removeSure: (title: string) => `Delete “${title}” with everything in it?`,
  exportMarkdown: 'Export as Markdown',
  exportJson: 'Export as JSON',
  online: 'online',
  isOffline: 'offline',
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
};

/** Of a thread, which also an element in the page of an app shows. */
export const thread = {
  newConversation: 'New conversation',
  connecting: 'Connecting…',
  lost: 'Connection lost. Trying again…',
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
  undoNothing: 'This answer changed nothing that can be undone.',
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
  planChanged: 'Somebody else changed the plan meanwhile. This is the present one.',
  unknownDocument: (type: string) =>
    `This page is older than what the server sent (${type}). Reload it.`,
  imageOf: (host: string) => `Image of ${host}: open`,
  subagent: 'Subagent',
  openConversation: 'Open its conversation',
  tokens: (count: string) => `${count} tokens`,

  // Writing and answering
  message: 'Message',
  send: 'Send',
  stop: 'Stop',
  notSent: 'Not sent yet',
  refused: 'Not sent:',
  chooseFirst: 'Choose an answer, or skip.',
  answer: 'Answer',
  skip: 'Skip',
  ownWords: 'In your own words',
  answered: {
    once: 'Allowed',
    reject: 'Rejected',
    expired: 'Expired',
    superseded: 'Asked again',
  } as Readonly<Record<string, string>>,
  by: {
    device: 'at a device',
    terminal: 'at the terminal',
    drawbridge: 'without an answer',
  } as Readonly<Record<string, string>>,

  // In the page of an app
  waitsElsewhere: 'Waits for a yes on another device.',
  embedNeeds:
    'This element needs the address of a server and a token: its properties `server` and `token`.',
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
  allowConversation: 'Allow in this conversation',
  allowAlways: 'Always allow',
  pattern: 'What is allowed, one pattern on each line',
  reject: 'Reject',
  rejectWhy: 'Reason for the agent (optional)',
  cannotApprove:
    'This browser is not enrolled at that machine, so it can only reject. Approve there, or run there:',
  perhapsApproves:
    'If the question comes back, this browser is not enrolled at that machine. Run there:',
};

/** Of the settings. */
export const settings = {
  machines: 'Machines',
  serverState: { starting: 'starting', ready: 'ready', down: 'down' } as Readonly<
    Record<string, string>
  >,
  tools: (count: number) => (count === 1 ? '1 tool' : `${count} tools`),
  noMachines: 'No machine is connected. In a folder with code, run:',
  devices: 'Signed-in devices',
  thisDevice: 'this device',
  lastUsed: (when: string) => `last used ${when}`,
  endSession: 'Sign out',
  invitation: 'Invitation',
  until: (when: string) => `until ${when}`,
  revoke: 'Revoke',
  invite: 'Invite another device',
  inviteLocal:
    'Only this machine reaches this address. A phone needs one with https, such as that of a tunnel or a deployment.',
  inviteLead: 'Open this link on the other device. It works once, for two days.',
  approveCode: 'Let a device in by its code',
  code: 'Code',
  lookUp: 'Look up',
  letIn: 'Let it in',
  refuse: 'Refuse',
  records: 'What was done in this account',
  show: 'Show',
  acts: {
    signed_in: 'Signed in',
    session_ended: 'Signed out',
    login_approved: 'Let in',
    login_refused: 'Refused',
    bridge_added: 'Machine added',
    bridge_shared: 'Machine shared',
    conversation_exported: 'Conversation exported',
    conversation_deleted: 'Conversation deleted',
    account_suspended: 'Account suspended',
    account_resumed: 'Account resumed',
    account_exported: 'Account exported',
    account_deleted: 'Account deleted',
  } as Readonly<Record<string, string>>,
  appearance: 'Appearance',
  theme: { system: 'As the system', light: 'Light', dark: 'Dark' } as Readonly<
    Record<string, string>
  >,
  usage: 'Usage',
  notifications: 'Notifications',
  notifyWhen: 'Notify this browser when',
  pushKinds: {
    waiting: 'something waits for you',
    ended: 'an agent, or an answer that took long, is complete',
    failed: 'an agent, or an answer that took long, failed',
  },
  noPush: {
    denied: 'This browser does not allow notifications of this page. Allow them in its settings.',
    insecure: 'Notifications need an address with https.',
    homeScreen: 'On an iPhone or iPad, add this page to the home screen first, and open it there.',
    none: 'This browser has no notifications.',
  },
  pushFailed: 'Notifications could not be turned on or off:',
  account: 'Account',
  approving: 'Approving',
  enrolLead:
    'To let this browser approve, paste what this command prints at the machine. Do so only if the page comes from a server of your own:',
  enrolSecret: 'Secret of drawbridge enrol',
  enrol: 'Let it approve',
  enrolWrong: 'That is no secret of drawbridge enrol.',
  canApprove: 'This browser is enrolled and can approve.',
  privacy: 'Privacy',
  privacyLead: 'Delete the text of new conversations after the last answer',
  never: 'Never',
  hours: (count: number) => (count === 0 ? 'At once' : `After ${count} h`),
};
