import { assertEquals } from "@std/assert";
import { readFlags } from "../../lib/config/flags.ts";

const SPECS = [
  { flag: "--grpc-port", bare: false, placeholder: "PORT" },
  { flag: "--use-tls", bare: true, placeholder: "BOOL" },
];

function problemsOf(...args: string[]): readonly string[] {
  return readFlags(args, SPECS).problems;
}

Deno.test("readFlags reads both forms of a value, bare booleans, and repetitions in order", () => {
  const cases: readonly (readonly [string[], Record<string, string[]>])[] = [
    [[], {}],
    [["--grpc-port", "1"], { "--grpc-port": ["1"] }],
    [["--grpc-port=1", "--grpc-port", "2"], { "--grpc-port": ["1", "2"] }],
    [["--grpc-port="], { "--grpc-port": [""] }],
    [["--grpc-port=a=b"], { "--grpc-port": ["a=b"] }],
    [["--grpc-port=--x"], { "--grpc-port": ["--x"] }],
    [["--grpc-port", "-1"], { "--grpc-port": ["-1"] }],
    [["--use-tls"], { "--use-tls": ["true"] }],
    [["--use-tls=false"], { "--use-tls": ["false"] }],
  ];
  for (const [args, want] of cases) {
    const { values, problems } = readFlags(args, SPECS);
    assertEquals([Object.fromEntries(values), problems], [want, []], args.join(" "));
  }
});

Deno.test("readFlags names the nearest flag for an unknown one", () => {
  assertEquals(problemsOf("--grpc-prt=1"), [
    "Cannot read --grpc-prt: no such flag; the nearest is --grpc-port",
  ]);
  assertEquals(problemsOf("--hep"), ["Cannot read --hep: no such flag; the nearest is --help"]);
});

Deno.test("readFlags counts a flag with one dash, in any number of letters, as one mistake", () => {
  assertEquals(problemsOf("-grpc-port=1"), [
    "Cannot read -grpc-port: no such flag; the nearest is --grpc-port",
  ]);
});

Deno.test("readFlags takes what follows an unknown flag for its value", () => {
  assertEquals(problemsOf("--wat", "1").length, 1);
});

Deno.test("readFlags refuses what is no flag at all", () => {
  assertEquals(problemsOf("db:50051", "--", "--grpc-port"), [
    'Cannot read "db:50051": expected a flag such as --help',
    'Cannot read "--grpc-port": expected a flag such as --help',
  ]);
});

Deno.test("readFlags misses a value at the end and before the next flag", () => {
  const problem = "Cannot read --grpc-port: expected a value, as in --grpc-port PORT";
  assertEquals(problemsOf("--grpc-port"), [problem]);
  assertEquals(problemsOf("--grpc-port", "--use-tls"), [problem]);
});

Deno.test("readFlags takes no secret, which everybody on the machine could read, and does not repeat it", () => {
  const token = {
    flag: "--admin-token",
    bare: false,
    placeholder: "TOKEN",
    instead: "ADMIN_TOKEN",
  };
  for (const args of [["--admin-token", "hunter2"], ["--admin-token=hunter2"], ["--admin-token"]]) {
    assertEquals(readFlags(args, [token]), {
      values: new Map(),
      problems: [
        "Cannot take --admin-token: everybody on the machine can read flags; " +
        "set ADMIN_TOKEN or ADMIN_TOKEN_FILE",
      ],
    });
  }
});
