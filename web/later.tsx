/** Loads what the first screen does not need, when it is needed. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ClientError } from '../client/index.ts';
import { words } from './words/words.ts';

/** A part of the page that `load` brings when it is first shown. Later it is there at once. `Missing` stands for one that did not arrive. */
export function later<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  Missing: FunctionComponent<Props & Problem> = ({ problem }) => <p role="alert">{problem}</p>,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined;
  return function Later(props) {
    const [Part, setPart] = useState(() => loaded);
    const [problem, setProblem] = useState('');
    useEffect(() => {
      if (Part) return;
      arrive(load()).then(
        (part) => {
          loaded = part;
          setPart(() => part);
        },
        ({ message }) => setProblem(message),
      );
    }, []);
    if (problem !== '') return <Missing {...props} problem={problem} />;
    return Part ? <Part {...props} /> : null;
  };
}

interface Problem {
  readonly problem: string;
}

/** Resolves to the module of an `import()`. Rejects with `UNREACHABLE` without a network, or if a newer page replaced the file. */
export async function arrive<Module>(loading: Promise<Module>): Promise<Module> {
  try {
    return await loading;
  } catch (cause) {
    throw new ClientError('UNREACHABLE', words.notLoaded, { cause });
  }
}
