/** Light, dark, or as the system. */
import { useState } from 'preact/hooks';
import { words } from '../words/words.ts';

const KEY = 'theme';

/** Shows the page in the chosen colours. Call it once at the start. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = localStorage.getItem(KEY) ?? 'system';
}

export function Theme() {
  const [theme, setTheme] = useState(localStorage.getItem(KEY) ?? 'system');
  const choose = (chosen: string) => {
    localStorage.setItem(KEY, chosen);
    applyTheme();
    setTheme(chosen);
  };
  return (
    <fieldset>
      <legend>{words.appearance}</legend>
      {Object.entries(words.theme).map(([value, text]) => (
        <label key={value}>
          <input
            type="radio"
            name="theme"
            checked={theme === value}
            onChange={() => choose(value)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
