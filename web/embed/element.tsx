/** `<drawbridge-thread>`: a conversation in the page of an app. The package has it as `drawbridge-client/embed`. */
import { render } from 'preact';
import type { ClientOptions } from '../../client/index.ts';
import { thread as german } from '../words/de.ts';
import { thread as english } from '../words/en.ts';
import { speak, words } from '../words/thread.ts';
import styles from './embed.css';
import { Embedded } from './embedded.tsx';

/** All elements share it, and no policy of a page forbids it. */
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);

/** A conversation began in the element. Keep the id to show it again. */
export type ConversationEvent = CustomEvent<{ readonly id: string }>;

/**
 * Shows a conversation and takes messages for it, with a token of the app. The attributes `mode`, `model` and `bridge` are
 * those of its messages. Dispatches a {@link ConversationEvent}, `conversation`, when the first message has begun one.
 */
export class DrawbridgeThread extends HTMLElement {
  static readonly observedAttributes = ['server', 'conversation', 'mode', 'model', 'bridge'];
  #token: ClientOptions['token'] = '';

  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet];
  }

  /** The URL of Drawbridge without `/api/v1`, as the attribute of this name. */
  get server(): string {
    return this.getAttribute('server') ?? '';
  }

  set server(url: string) {
    reflect(this, 'server', url);
  }

  /** The id of the conversation, as the attribute of this name. Null: the first message begins one. */
  get conversation(): string | null {
    return this.getAttribute('conversation') || null;
  }

  set conversation(id: string | null) {
    reflect(this, 'conversation', id);
  }

  /** A token of the app's user, or a function that gives one, as `createClient` takes it. No attribute has it. */
  get token(): ClientOptions['token'] {
    return this.#token;
  }

  set token(token: ClientOptions['token']) {
    this.#token = token;
    this.#show();
  }

  connectedCallback(): void {
    // What a page set before the element was defined hides what the class has.
    for (const name of ['server', 'conversation', 'token'] as const) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as Partial<DrawbridgeThread>)[name];
      Object.assign(this, { [name]: value });
    }
    const { lang } = this.closest<HTMLElement>('[lang]') ?? document.documentElement;
    speak(/^de\b/i.test(lang) ? german : english);
    this.#show();
  }

  disconnectedCallback(): void {
    if (this.shadowRoot) render(null, this.shadowRoot);
  }

  attributeChangedCallback(): void {
    this.#show();
  }

  #show(): void {
    const { server, token, conversation, shadowRoot } = this;
    if (!this.isConnected || !shadowRoot) return;
    if (!server || !token) {
      return render(<p class="fill hint">{words.embedNeeds}</p>, shadowRoot);
    }
    const given = (name: string) => this.getAttribute(name) ?? undefined;
    const settings = { mode: given('mode'), model: given('model'), bridgeId: given('bridge') };
    const onConversation = (id: string) => {
      // The app may show another one by now.
      this.conversation ??= id;
      this.dispatchEvent(new CustomEvent('conversation', { detail: { id } }));
    };
    const leave = () => {
      this.conversation = null;
    };
    const props = { server, token, conversation, settings, onConversation, leave };
    render(<Embedded key={server} {...props} />, shadowRoot);
  }
}

/** Frameworks also set what they have not got yet. */
function reflect(element: Element, name: string, value: string | null | undefined): void {
  if (value) element.setAttribute(name, value);
  else element.removeAttribute(name);
}

declare global {
  interface HTMLElementTagNameMap {
    'drawbridge-thread': DrawbridgeThread;
  }
}

if (!customElements.get('drawbridge-thread'))
  customElements.define('drawbridge-thread', DrawbridgeThread);
