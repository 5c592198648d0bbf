/** What the owner has set about the companion, for commands: it loads no editor and no companion. */
export {
  isBridgeRunning,
  type RunningCompanion,
  readEnabled,
  readRunning,
  writeEnabled,
} from './guests/setting.ts';
