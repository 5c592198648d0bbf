/** One house for all tests of a file: starting one takes a second of processor time. */
import { afterAll, beforeAll } from 'vitest';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import {
  type ScriptedAnswer,
  type ScriptedModel,
  startScriptedModel,
} from '../far-ends/scripted-model.ts';
import { type House, type HouseOptions, startHouse } from './house.ts';

export type Script = (request: ScriptedRequest, turn: number) => ScriptedAnswer;

export interface OneHouse {
  readonly house: House;
  readonly model: ScriptedModel;
  /** The requests since {@link answerWith}. */
  requests(): readonly ScriptedRequest[];
  /** The model's answers from now on: by turns that count from 0, or one after the other. */
  answerWith(script: Script | readonly ScriptedAnswer[]): void;
}

/** Starts the house before the file's tests, and ends it after them. The getters work within tests. */
export function oneHouse(options: HouseOptions = {}): OneHouse {
  let started: { readonly house: House; readonly model: ScriptedModel } | undefined;
  let script: Script = () => ({ text: 'No test has said what to answer.' });
  let earlier = 0;
  beforeAll(async () => {
    const model = await startScriptedModel((request, number) => script(request, number - earlier));
    started = { model, house: await startHouse({ ...options, modelUrl: model.baseUrl }) };
  });
  afterAll(async () => {
    await started?.house[Symbol.asyncDispose]();
    await started?.model.close();
  });
  const parts = () => {
    if (!started) throw new Error('the house starts before the first test');
    return started;
  };
  return {
    get house() {
      return parts().house;
    },
    get model() {
      return parts().model;
    },
    requests: () => parts().model.requests.slice(earlier),
    answerWith: (next) => {
      earlier = parts().model.requests.length;
      script = typeof next === 'function' ? next : (_, turn) => next[turn] ?? { text: 'Too much.' };
    },
  };
}
