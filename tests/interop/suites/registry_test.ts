import { assertEquals } from "@std/assert";
import { tooOld } from "./build.ts";
import { unreachable } from "./registry.ts";

/** What the package clients said on a machine without a network. */
const WITHOUT_NETWORK: Readonly<Record<string, string>> = {
  go:
    `go: example.test/a@v1.0.0: Get "https://proxy.test/a/@v/v1.0.0.mod": dial tcp: lookup proxy.test: no such host`,
  "go, old": "go: go.mod requires go >= 1.26.0 (running go 1.24.1; GOTOOLCHAIN=local)",
  npm: "npm error code EAI_AGAIN",
  pip: "WARNING: Retrying after connection broken by 'NewConnectionError(...)': /simple/grpcio/",
  "pip, quiet":
    "ERROR: Could not find a version that satisfies the requirement a==1 (from versions: none)",
  maven: "[ERROR] Could not transfer artifact a:b:pom:1 from/to central: Unknown host",
};

for (const [client, line] of Object.entries(WITHOUT_NETWORK)) {
  Deno.test(`unreachable knows what ${client} says without a network`, () => {
    assertEquals(unreachable(`fetching\n  ${line}\nfailed`), line);
  });
}

Deno.test("unreachable leaves other failures of a build alone", () => {
  for (
    const output of [
      "./main.go:7:2: undefined: missing",
      "npm error code EUSAGE",
      "ERROR: Could not find a version that satisfies the requirement a==1 (from versions: 2, 3)",
      "[ERROR] Could not find artifact a:b:jar:1 in central",
      "Cases.java:9: error: cannot find symbol",
    ]
  ) assertEquals(unreachable(output), undefined, output);
});

Deno.test("tooOld names a Go that is older than 1.24, and no other", () => {
  assertEquals(tooOld("go version go1.23.9 linux/amd64"), "Go 1.23 is older than 1.24");
  assertEquals(tooOld("go version go1.24rc1 linux/amd64"), undefined);
  assertEquals(tooOld("go version go2.0 linux/amd64"), undefined);
  assertEquals(tooOld("go version devel"), undefined);
});
