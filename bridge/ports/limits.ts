/** The limits of ports that people open, each with its reason. */
export const PORT_LIMITS = {
  /** Open at a time, of all processes: each one has a Node of its own in the network, with some 40 MB. */
  maxOpen: 8,
  /** Connections of one port at a time: a page opens six, and development servers send modules one by one. */
  maxConnections: 128,
} as const;
