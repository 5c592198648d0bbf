/** Starts the page. */
import { render } from 'preact';
import './main.css';
import { App } from './app.tsx';
import { openOffline } from './session/offline.ts';
import { applyTheme } from './settings/theme.tsx';

applyTheme();
openOffline();
const root = document.getElementById('root');
if (root) render(<App />, root);
