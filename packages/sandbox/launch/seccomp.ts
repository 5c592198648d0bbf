/**
 * The filter of system calls for sandboxed commands, as a classic BPF program for bubblewrap's `--seccomp`. It allows
 * everything except calls that lead to the host's sockets, out of the namespaces, or into rarely tested kernel code.
 */

/** The program for this processor. Undefined where we have none; then there is no sandbox. */
export function seccompProgram(arch: string = process.arch): Uint8Array | undefined {
  const abi = ABIS[arch];
  if (abi === undefined) return undefined;
  const { clone, clone3, prlimit64, socket, socketpair } = LIMITED;
  const { column } = abi;
  return assemble([
    ...killOtherAbis(abi),
    ...Object.values(DENIED).flatMap((numbers) => refuse(numbers[column], EPERM)),
    // The flags of clone3 lie in memory, where no filter sees them. Without clone3 the C library falls back to clone.
    ...refuse(clone3[column], ENOSYS),
    ...refuseWhenArgumentHas(clone[column], CLONE_NEWUSER),
    // Of the caller alone: another process may be one that starts a command, or may write its memory into a file.
    ...refuseUnlessArgument(prlimit64[column], [0]),
    ...refuseUnlessArgument(socket[column], [AF_INET, AF_INET6, AF_NETLINK]),
    // A socket from a datagram pair can send to any server's socket. A pair of these two types reaches only itself.
    ...refusePairUnless(socketpair[column], [SOCK_STREAM, SOCK_SEQPACKET]),
    [RETURN, 0, 0, ALLOW],
  ]);
}

/** A system call's numbers on each processor's Linux. */
type CallNumbers = readonly [x64: number, arm64: number];

/** The calls that are refused whatever their arguments are. */
const DENIED: Readonly<Record<string, CallNumbers>> = {
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  perf_event_open: [298, 241],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  kexec_load: [246, 104],
  init_module: [175, 105],
  finit_module: [313, 273],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
};

/** The calls that are refused for some arguments only, or with another error. */
const LIMITED = {
  clone: [56, 220],
  clone3: [435, 435],
  prlimit64: [302, 261],
  socket: [41, 198],
  socketpair: [53, 199],
} as const satisfies Record<string, CallNumbers>;

interface Abi {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly audit: number;
  /** First number of a second ABI under the same `audit` (x32), if there is one. */
  readonly otherAbiFrom: number | undefined;
  /** The place of its numbers in {@link CallNumbers}. */
  readonly column: 0 | 1;
}

const ABIS: Readonly<Record<string, Abi>> = {
  x64: { audit: 0xc000003e, otherAbiFrom: 0x40000000, column: 0 },
  arm64: { audit: 0xc00000b7, otherAbiFrom: undefined, column: 1 },
};

/** Operation, jump when true, jump when false, operand. Both jumps count instructions from the next one. */
type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number];

/** Offsets in `struct seccomp_data`. The two arguments we check are of type `int`, so we read only their low halves. */
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

const LOAD = 0x20;
const IS_EQUAL = 0x15;
const IS_AT_LEAST = 0x35;
const HAS_BITS = 0x45;
const MASK = 0x54;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL_WITH = 0x00050000;

const EPERM = 1;
const ENOSYS = 38;
/** All other families are refused: Unix sockets lead to the host's servers, and AF_VSOCK ignores network namespaces. */
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const CLONE_NEWUSER = 0x10000000;
/** Masks off the flags that share the argument with the socket's type. */
const SOCK_TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;

/**
 * Kills a call of another ABI, where the numbers mean other calls. Leaves the call's number loaded for what follows.
 */
function killOtherAbis({ audit, otherAbiFrom }: Abi): Instruction[] {
  const sameArchitecture: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [IS_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, CALL_NUMBER],
  ];
  if (otherAbiFrom === undefined) return sameArchitecture;
  return [...sameArchitecture, [IS_AT_LEAST, 0, 1, otherAbiFrom], [RETURN, 0, 0, KILL_PROCESS]];
}

function refuse(call: number, errno: number): Instruction[] {
  return [
    [IS_EQUAL, 0, 1, call],
    [RETURN, 0, 0, FAIL_WITH | errno],
  ];
}

function refuseWhenArgumentHas(call: number, bits: number): Instruction[] {
  return [
    [IS_EQUAL, 0, 4, call],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [HAS_BITS, 0, 1, bits],
    [RETURN, 0, 0, FAIL_WITH | EPERM],
    [LOAD, 0, 0, CALL_NUMBER],
  ];
}

function refuseUnlessArgument(call: number, values: readonly number[]): Instruction[] {
  const count = values.length;
  return [
    [IS_EQUAL, 0, count + 3, call],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    ...values.map((value, index): Instruction => [IS_EQUAL, count - index, 0, value]),
    [RETURN, 0, 0, FAIL_WITH | EPERM],
    [LOAD, 0, 0, CALL_NUMBER],
  ];
}

function refusePairUnless(call: number, types: readonly number[]): Instruction[] {
  const count = types.length;
  return [
    [IS_EQUAL, 0, count + 4, call],
    [LOAD, 0, 0, SECOND_ARGUMENT],
    [MASK, 0, 0, SOCK_TYPE_MASK],
    ...types.map((type, index): Instruction => [IS_EQUAL, count - index, 0, type]),
    [RETURN, 0, 0, FAIL_WITH | EPERM],
    [LOAD, 0, 0, CALL_NUMBER],
  ];
}

/** `struct sock_filter`: 16 bits of code, 8 and 8 of jumps, 32 of operand. */
function assemble(program: readonly Instruction[]): Uint8Array {
  const size = 8;
  const bytes = new DataView(new ArrayBuffer(program.length * size));
  for (const [index, [code, whenTrue, whenFalse, operand]] of program.entries()) {
    const at = index * size;
    bytes.setUint16(at, code, true);
    bytes.setUint8(at + 2, whenTrue);
    bytes.setUint8(at + 3, whenFalse);
    bytes.setUint32(at + 4, operand, true);
  }
  return new Uint8Array(bytes.buffer);
}
