/** Starts the page. */
import { render } from 'preact';
import './main.css';
import { App } from './app.tsx';
import { applyTheme } from './settings/theme.tsx';

applyTheme();
const root = document.getElementById('root');
if (root) render(<App />, root);
