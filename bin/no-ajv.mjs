// Takes the place of ajv and ajv-formats in the bundle. The MCP SDK loads them for servers without a checker of schemas,
// and the servers of this program have one.
export default undefined;
