/** Starts the page. */
import { render } from 'preact';
import './main.css';
import { App } from './app.tsx';
import { colourWith } from './parts/colours.ts';
import { openOffline } from './session/offline.ts';
import { applyTheme } from './session/theme.ts';

colourWith(() => import('../shared/shown/highlight.ts'));
applyTheme();
openOffline();
const root = document.getElementById('root');
if (root) render(<App />, root);
