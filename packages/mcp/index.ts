/**
 * The owner's MCP servers: their tools as tools of this machine, and the file that lists them. It loads no SDK until a
 * server is connected.
 */
export { CallFailure } from './call-failure.ts';
export { loginFileOf, removeLogin } from './login/login-file.ts';
export {
  changeServerFile,
  type ProposedServer,
  readOtherList,
  readProposedServers,
  readServerFile,
  serverFileIn,
} from './server-file.ts';
export { McpServers } from './servers.ts';
export type { Connection } from './transport/connection.ts';
export { mapTexts, variablesIn, withVariables } from './transport/variables.ts';
