/** What loads the SDK of MCP, which takes a tenth of a second: import it where a server is spoken to. */
export { logIn } from './login/login.ts';
export { connectServer } from './transport/connection.ts';
export { whyNotOutsideSandbox } from './transport/transports.ts';
export { tryServer } from './try-server.ts';
