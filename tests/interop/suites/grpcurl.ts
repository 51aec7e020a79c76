/**
 * grpcurl, which knows of the service only what the backend's reflection tells it through the sidecar.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { startHello } from "../../../lib/hello/mod.ts";
import { buildGo } from "./build.ts";
import { assertUnharmed, openSidecar, UNHARMED } from "./sidecar.ts";
import type { RunMode, Suite } from "./suite.ts";
import { runTool, type ToolCase } from "./tool.ts";

const HELLO = "hello.v1.Hello";

/** grpcurl ends with the call's status and this. */
const STATUS_BASE = 64;

const NOT_FOUND = 5;
const DEADLINE_EXCEEDED = 4;

/** Stands for the sidecar's address. */
const ADDRESS = "ADDRESS";

/** What HTTP/2 does not carry as it is. */
const GONE = "gone – for good";

/** A google.rpc.Status with a detail that grpcurl can read if reflection tells it how: a GreetingRequest. */
function statusWithGreeting(name: string): string {
  const field = (number: number, bytes: Uint8Array) => [number << 3 | 2, bytes.length, ...bytes];
  const text = (value: string) => new TextEncoder().encode(value);
  const request = Uint8Array.from(field(1, text(name)));
  const any = [
    ...field(1, text("type.googleapis.com/hello.v1.GreetingRequest")),
    ...field(2, request),
  ];
  const status = [0x08, NOT_FOUND, ...field(2, text(GONE)), ...field(3, Uint8Array.from(any))];
  return Buffer.from(status).toString("base64");
}

const FAILURE = {
  failWith: { code: NOT_FOUND, message: GONE, details: statusWithGreeting("Ada") },
};

const CASES: readonly ToolCase[] = [
  {
    name: "list",
    args: [ADDRESS, "list"],
    says: ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", HELLO, "hello.v1.Stats"],
  },
  {
    name: "list_methods",
    args: [ADDRESS, "list", HELLO],
    says: [`${HELLO}.Chat`, `${HELLO}.GetGreeting`],
  },
  {
    name: "describe_service",
    args: [ADDRESS, "describe", HELLO],
    says: [
      "rpc GetGreeting ( .hello.v1.GreetingRequest ) returns ( .hello.v1.GreetingReply )",
      "NO_SIDE_EFFECTS",
    ],
  },
  {
    name: "describe_message",
    args: [ADDRESS, "describe", "hello.v1.GreetingRequest"],
    says: ["message GreetingRequest", "string name = 1", "fail_with = 5"],
  },
  call("unary", "GetGreeting", { ask: [{ name: "Ada" }], says: ["Ada", '"from"'] }),
  call("write", "CreateGreeting", { ask: [{ name: "Grace" }], says: ["Grace"] }),
  call("server_stream", "ListGreetings", {
    ask: [{ name: "Ada", count: 3 }],
    says: ['"sequence": 1', '"sequence": 2', '"sequence": 3'],
  }),
  call("client_stream", "UploadGreetings", {
    ask: [{ name: "Ada" }, { name: "Grace" }],
    says: ["Ada and 1 more", '"sequence": 2'],
  }),
  call("bidi", "Chat", { ask: [{ name: "Ada" }, { name: "Grace" }], says: ["Ada", "Grace"] }),
  call("error_details", "GetGreeting", {
    ask: [FAILURE],
    code: STATUS_BASE + NOT_FOUND,
    says: [
      "Code: NotFound",
      `Message: ${GONE}`,
      "hello.v1.GreetingRequest",
      '"name": "Ada"',
    ],
  }),
  call("error_details_of_stream", "ListGreetings", {
    ask: [{ count: 1, ...FAILURE }],
    code: STATUS_BASE + NOT_FOUND,
    says: [
      '"sequence": 1',
      "Code: NotFound",
      `Message: ${GONE}`,
      "hello.v1.GreetingRequest",
    ],
  }),
  call("metadata", "GetGreeting", {
    flags: ["-v", "-H", "x-team: blue", "-H", "x-collapser-debug: 1"],
    ask: [{ echoMetadata: ["x-team"] }],
    says: [
      "Response headers received:",
      "x-hello-call:",
      "blue",
      "Response trailers received:",
      "x-collapser: led",
    ],
  }),
  call("deadline", "GetGreeting", {
    flags: ["-max-time", "0.3"],
    ask: [{ delayMs: 600_000 }],
    code: STATUS_BASE + DEADLINE_EXCEEDED,
    says: ["Code: DeadlineExceeded"],
  }),
  {
    name: "describe_nothing",
    args: [ADDRESS, "describe", "hello.v1.Nothing"],
    code: 1,
    says: ["Symbol not found: hello.v1.Nothing"],
  },
  {
    name: "health_watch",
    args: [
      "-max-time",
      "1",
      "-d",
      `{"service":"${HELLO}"}`,
      ADDRESS,
      "grpc.health.v1.Health/Watch",
    ],
    code: STATUS_BASE + DEADLINE_EXCEEDED,
    says: ['"status": "SERVING"', "DeadlineExceeded"],
  },
];

/** The grpcurl suite. */
export const GRPCURL: Suite = {
  name: "grpcurl",
  cases: () => [...CASES.map(({ name }) => name), UNHARMED],
  async prepare(): Promise<RunMode> {
    const bin = await buildGo(["github.com/fullstorydev/grpcurl/cmd/grpcurl"]);
    return async (bench) => {
      const hello = await startHello();
      using _ = { [Symbol.dispose]: () => hello.kill() };
      await using sidecar = await openSidecar(bench, hello.address);
      const address = `127.0.0.1:${sidecar.grpcPort}`;
      for (const of of CASES) {
        const args = ["-plaintext", ...of.args].map((arg) => arg === ADDRESS ? address : arg);
        await bench.check(of.name, () => runTool(bin("grpcurl"), { ...of, args }));
      }
      await bench.check(UNHARMED, () => assertUnharmed(sidecar));
    };
  },
};

function call(
  name: string,
  method: string,
  { ask, flags = [], ...rest }: {
    ask: readonly unknown[];
    flags?: readonly string[];
    says: readonly string[];
    code?: number;
  },
): ToolCase {
  const data = ask.map((message) => JSON.stringify(message)).join("");
  return { name, args: [...flags, "-d", data, ADDRESS, `${HELLO}/${method}`], ...rest };
}
