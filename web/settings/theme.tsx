/** Light, dark, or as the system. */
import { useState } from 'preact/hooks';
import { chooseTheme, chosenTheme } from '../session/theme.ts';
import { words } from '../words/settings.ts';

export function Theme() {
  const [theme, setTheme] = useState(chosenTheme);
  const choose = (chosen: string) => {
    chooseTheme(chosen);
    setTheme(chosen);
  };
  return (
    <>
      <h2>{words.appearance}</h2>
      <fieldset class="choices" aria-label={words.appearance}>
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
    </>
  );
}
