import { type Platform, thisPlatform } from "../assets/platform.ts";
import { type ImageLayout, writeImageLayout } from "./image-layout.ts";

/** The image of which every pod has one container that does nothing. */
export const PAUSE_IMAGE = "quartermaster.local/pause:1";

/** Writes the layout of the pause image into `target`. */
export async function writePauseImage(target: string): Promise<ImageLayout> {
  return await writeImageLayout({
    name: PAUSE_IMAGE,
    entries: [{ kind: "file", path: "pause", mode: 0o755, content: pauseProgram(thisPlatform().arch) }],
    entrypoint: ["/pause"],
    user: "65535:65535",
    compression: "none",
    target,
  });
}

/**
 * The program that holds a pod's namespaces open while its containers come and go: an ELF executable of about 200 bytes that
 * ignores SIGCHLD (orphans of a shared process namespace are then reaped by the kernel) and sleeps until it is killed.
 * Written out by hand, because no image can be fetched and a pod must not depend on what the machine has installed.
 */
export function pauseProgram(arch: Platform["arch"]): Uint8Array {
  const { machine, code } = PROGRAMS[arch];
  const bytes = Buffer.concat([Buffer.from(code.join("").replaceAll(" ", ""), "hex"), IGNORE_ACTION]);
  return Buffer.concat([fileHeader(machine), programHeader(HEADERS_BYTES + bytes.length), bytes]);
}

/** `struct sigaction` of the kernel: handler SIG_IGN, no flags, no restorer, empty mask. It follows the code. */
const IGNORE_ACTION = Buffer.from([1, ...Array.from({ length: 31 }, () => 0)]);

const PROGRAMS = {
  amd64: {
    machine: 62,
    code: [
      "b8 0d 00 00 00", //             mov  eax, 13        rt_sigaction
      "bf 11 00 00 00", //             mov  edi, 17        SIGCHLD
      "48 8d 35 13 00 00 00", //       lea  rsi, [rip+19]  the action behind the code
      "31 d2", //                      xor  edx, edx
      "41 ba 08 00 00 00", //          mov  r10d, 8        size of the mask
      "0f 05", //                      syscall
      "b8 22 00 00 00", //       wait: mov  eax, 34        pause
      "0f 05", //                      syscall
      "eb f7", //                      jmp  wait
    ],
  },
  arm64: {
    machine: 183,
    code: [
      "c8 10 80 d2", //       mov  x8, #134       rt_sigaction
      "20 02 80 d2", //       mov  x0, #17        SIGCHLD
      "61 01 00 10", //       adr  x1, .+44       the action behind the code
      "02 00 80 d2", //       mov  x2, #0
      "03 01 80 d2", //       mov  x3, #8         size of the mask
      "01 00 00 d4", //       svc  #0
      "00 00 80 d2", // wait: mov  x0, #0         no descriptors, no limit, no mask
      "01 00 80 d2", //       mov  x1, #0
      "02 00 80 d2", //       mov  x2, #0
      "03 00 80 d2", //       mov  x3, #0
      "28 09 80 d2", //       mov  x8, #73        ppoll
      "01 00 00 d4", //       svc  #0
      "fa ff ff 17", //       b    wait
    ],
  },
} as const;

const LOAD_ADDRESS = 0x400000n;
const FILE_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const HEADERS_BYTES = FILE_HEADER_BYTES + PROGRAM_HEADER_BYTES;

/** A 64-bit little-endian executable whose code follows the headers. */
function fileHeader(machine: number): Buffer {
  const header = Buffer.alloc(FILE_HEADER_BYTES);
  header.write("\u007fELF\u0002\u0001\u0001", "latin1");
  header.writeUInt16LE(2, 16); // executable
  header.writeUInt16LE(machine, 18);
  header.writeUInt32LE(1, 20); // version
  header.writeBigUInt64LE(LOAD_ADDRESS + BigInt(HEADERS_BYTES), 24); // entry point
  header.writeBigUInt64LE(BigInt(FILE_HEADER_BYTES), 32); // program headers
  header.writeUInt16LE(FILE_HEADER_BYTES, 52);
  header.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  header.writeUInt16LE(1, 56); // one program header
  header.writeUInt16LE(64, 58); // size of a section header, of which there are none
  return header;
}

/** The whole file is loaded, readable and executable. */
function programHeader(sizeBytes: number): Buffer {
  const header = Buffer.alloc(PROGRAM_HEADER_BYTES);
  header.writeUInt32LE(1, 0); // load
  header.writeUInt32LE(5, 4); // read, execute
  header.writeBigUInt64LE(LOAD_ADDRESS, 16);
  header.writeBigUInt64LE(LOAD_ADDRESS, 24);
  header.writeBigUInt64LE(BigInt(sizeBytes), 32);
  header.writeBigUInt64LE(BigInt(sizeBytes), 40);
  header.writeBigUInt64LE(0x10000n, 48); // alignment: the largest page of arm64
  return header;
}
