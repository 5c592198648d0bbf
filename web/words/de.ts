/** Every text of the page, in German. */
import type * as en from './en.ts';

export const frame: typeof en.frame = {
  // The frame
  inbox: 'Wartet auf dich',
  settings: 'Einstellungen',
  palette: 'Zu einer Unterhaltung gehen oder etwas tun',
  back: 'Zurück',
  more: 'Mehr',
  offline: 'Du bist offline. Was du schreibst, wird später gesendet.',
  replaced: (folder: string) =>
    `Ein zweites Programm hat ${folder} übernommen. Wenn du keines gestartet hast, sieh in den Einstellungen nach.`,
  notLoaded: 'Dieser Teil der Seite konnte nicht geladen werden. Lade die Seite neu.',

  // Why one is signed out
  linkUsed:
    'Der Link ist abgelaufen, oder ein anderes Gerät hat ihn benutzt. Bitte um einen neuen.',
  ended: 'Dieses Gerät wurde abgemeldet. Melde dich wieder an, um weiterzumachen.',

  // The list
  search: 'Suchen',
  nothingFound: 'Nichts gefunden.',
  noConversations: 'Noch keine Unterhaltung.',
  showArchived: 'Archiv',
  agents: 'Agenten im Hintergrund',
  rename: 'Umbenennen',
  renameTo: 'Neuer Name',
  archive: 'Archivieren',
  unarchive: 'Aus dem Archiv holen',
  removeSure: (title) => `„${title}“ mit allem darin löschen?`,
  exportMarkdown: 'Als Markdown exportieren',
  exportJson: 'Als JSON exportieren',
  machineState: {
    online: 'online',
    offline: 'offline',
    unknown: 'unbekannt (offline)',
  },
  agentStatus: {
    queued: 'wartet',
    running: 'läuft',
    waiting: 'wartet auf dich',
    completed: 'fertig',
    error: 'gescheitert',
    cancelled: 'angehalten',
    archived: 'archiviert',
  },

  // The bar above a thread
  privateUntil: (hours) =>
    hours === 0
      ? 'Privat: wird nach der Antwort gelöscht'
      : `Privat: wird ${hours} h nach der letzten Antwort gelöscht`,
  contextHelp: 'So viel vom Fenster des Modells ist gefüllt',
  ofSubagent: 'Hier arbeitet ein Subagent, der keine Nachrichten annimmt.',
  openParent: 'Zur Unterhaltung, die ihn gestartet hat',

  // What else is shown outside of a thread
  noMachines: 'Kein Rechner ist verbunden. Rufe in einem Ordner mit Code auf:',
  rules: 'Regeln',
  imageOfMessage: (number, count) => `Bild ${number} von ${count}`,
  subagents: 'Subagenten',
  openConversation: 'Seine Unterhaltung öffnen',
  refused: 'Nicht gesendet:',
};

export const thread: typeof en.thread = {
  newConversation: 'Neue Unterhaltung',
  connecting: 'Verbinde…',
  lost: 'Verbindung verloren. Neuer Versuch…',
  waits: {
    rate_limited: (at: string) => `Der Modellserver begrenzt Anfragen. Neuer Versuch um ${at}.`,
    unavailable: (at: string) => `Der Modellserver antwortet nicht. Neuer Versuch um ${at}.`,
  },
  close: 'Schließen',
  cancel: 'Abbrechen',
  copy: 'Kopieren',
  copied: 'Kopiert',
  loadMore: 'Mehr anzeigen',
  you: 'Du',
  agent: 'Agent',
  earlier: 'Frühere Nachrichten anzeigen',
  newBelow: 'Neues weiter unten',
  notFound: 'Diese Unterhaltung gibt es nicht mehr.',
  textDeleted: 'Der Text dieser privaten Unterhaltung wurde gelöscht.',
  taken: 'Zurückgezogen',
  queued: 'Kommt noch an die Reihe',
  steers: 'Während der Antwort gesendet',
  images: (count) => (count === 1 ? '1 Bild' : `${count} Bilder`),
  edit: 'Ändern',
  editAgain: 'Ändern und in einer neuen Unterhaltung noch einmal senden',
  save: 'Speichern',
  remove: 'Löschen',
  takeBack: 'Zurückziehen',
  tryAgain: 'Noch einmal',
  fork: 'Abzweigen',
  forkHelp: 'Von hier in einer neuen Unterhaltung weitermachen',
  undo: 'Rückgängig',
  undoHelp: 'Zurücknehmen, was diese Antwort in Dateien geändert hat',
  undoLead: 'Das würde sich ändern:',
  undoNothing: 'Diese Antwort hat nichts geändert, das sich zurücknehmen lässt.',
  undoNow: 'Rückgängig machen',
  status: {
    queued: 'Wartet',
    streaming: 'Antwortet',
    waiting: 'Wartet auf dich',
    completed: 'Fertig',
    error: 'Gescheitert',
    cancelled: 'Angehalten',
  },
  unavailable: 'In dieser Antwort nicht verfügbar:',
  reasoning: 'Überlegungen',
  lines: (start, end) => (start === end ? `Zeile ${start}` : `Zeilen ${start}–${end}`),
  operation: {
    create: 'Angelegt',
    edit: 'Geändert',
    delete: 'Gelöscht',
    rename: 'Umbenannt',
  },
  operationOpen: {
    create: 'Anlegen',
    edit: 'Ändern',
    delete: 'Löschen',
    rename: 'Umbenennen',
  },
  notApplied: 'Nicht ausgeführt',
  notChecked: 'Nicht geprüft:',
  checkedBy: (by) => `Geprüft von ${by}`,
  exit: (code) => (code === 0 ? 'Fertig' : `Exit-Code ${code}`),
  running: 'Läuft',
  moreLines: (count) => (count === 1 ? '1 Zeile mehr' : `${count} Zeilen mehr`),
  fewerLines: 'Einklappen',
  plan: 'Plan',
  overview: 'Überblick',
  executePlan: 'Plan ausführen',
  savePlan: 'Als Datei speichern',
  todos: 'Zu tun',
  todoStatus: {
    pending: 'offen',
    in_progress: 'in Arbeit',
    completed: 'erledigt',
    cancelled: 'verworfen',
  },
  moveUp: 'Nach oben',
  moveDown: 'Nach unten',
  planChanged: 'Jemand hat den Plan geändert. Das ist er jetzt.',
  unknownDocument: (type) =>
    `Diese Seite ist älter als das, was der Server gesendet hat (${type}). Lade sie neu.`,
  imageOf: (host) => `Bild von ${host}: öffnen`,
  subagent: 'Subagent',
  tokens: (count) => `${count} Tokens`,

  // Writing and answering
  message: 'Nachricht',
  send: 'Senden',
  stop: 'Anhalten',
  notSent: 'Noch nicht gesendet',
  chooseFirst: 'Wähle eine Antwort oder überspringe.',
  answer: 'Antworten',
  skip: 'Überspringen',
  ownWords: 'In eigenen Worten',
  answered: {
    once: 'Einmal erlaubt',
    conversation: 'In dieser Unterhaltung erlaubt',
    always: 'Ab jetzt immer erlaubt',
    reject: 'Abgelehnt',
    expired: 'Beendet',
  },
  by: {
    device: 'an einem Gerät',
    terminal: 'am Rechner',
    editor: 'im Editor',
    drawbridge: 'ohne Antwort',
  },

  // In the page of an app
  waitsElsewhere: 'Wartet auf ein Ja an einem anderen Gerät.',
  embedNeeds: 'Dieses Element braucht seine Eigenschaften `server` und `token`.',
};

export const asking: typeof en.asking = {
  // The composer
  steer: 'Jetzt senden',
  steerHelp: 'Der Agent liest es vor seinem nächsten Schritt',
  queue: 'Einreihen',
  notAnImage: 'Nur Bilder in PNG, JPEG, WebP und GIF lassen sich anhängen.',
  queueHelp: 'Es wartet auf das Ende der Antwort',
  mode: 'Modus',
  modes: {
    agent: 'Agent',
    plan: 'Planen',
    ask: 'Fragen',
    debug: 'Debuggen',
  },
  model: 'Modell',
  defaultModel: 'Standardmodell',
  machine: 'Rechner',
  machineAway: (folder, when) =>
    `Der Rechner von ${folder} ist nicht verbunden (zuletzt ${when}): Was der Agent dort tut, wartet auf ihn. Rufe dort auf:`,
  attach: 'Bild anhängen',
  removeImage: 'Bild entfernen',
  imageTooLarge: 'Die Bilder sind zu groß für eine Nachricht.',

  offers: 'Was daraus werden kann',
  offered: { file: '', folder: 'Ordner', rule: 'Regel' },

  // Approvals and questions
  asks: {
    edit: 'Diese Datei ändern?',
    command: 'Diesen Befehl ausführen?',
    call: 'Dieses Werkzeug laufen lassen?',
    elicitation: 'Diesem Server antworten?',
  },
  moreAnswers: 'Andere Antworten und ein Grund',
  nothingWaits: 'Nichts wartet auf dich.',
  allows: 'Einmal erlauben',
  allowsByPasskey: 'Einmal mit Passkey erlauben',
  reach: {
    once: 'Nur dieser Aufruf.',
    site: (site) => `Seiten von ${site}, in dieser Unterhaltung.`,
    conversation: 'Jeder Aufruf, der zum Muster passt, bis diese Unterhaltung endet.',
    always:
      'Jeder Aufruf in diesem Ordner, der zum Muster passt, bis es am Rechner zurückgenommen wird.',
  },
  allowConversation: 'In dieser Unterhaltung erlauben',
  allowAlways: 'Immer erlauben',
  pattern: 'Was erlaubt ist, ein Muster in jeder Zeile',
  patternCount: (count) => `Es braucht ${count} Muster, jedes in einer eigenen Zeile.`,
  patternMismatch: (text) => `Das Muster passt nicht auf ${text}.`,
  reject: 'Ablehnen',
  rejectWhy: 'Grund für den Agenten (freiwillig)',
  cannotApprove:
    'Dieser Browser ist an jenem Rechner nicht eingetragen und kann nur ablehnen. Erlaube es dort, oder rufe dort auf:',
  perhapsApproves:
    'Wenn die Frage wiederkommt, ist dieser Browser an jenem Rechner nicht eingetragen. Rufe dort auf:',
  goneElsewhere: 'Es wartet nicht mehr.',
};
