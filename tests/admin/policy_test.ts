import { assertEquals } from "@std/assert";
import type { PolicyStatus } from "../../lib/config/mod.ts";
import { withAdmin } from "./support.ts";

const TEXT = '{ "methodConfig": [{ "name": [{}], "collapser": { "ttl": "53s" } }] }';

function status(
  problems: PolicyStatus["file"]["problems"],
  hash: string | undefined,
): PolicyStatus {
  return {
    ...{ path: "/etc/policy.json", text: TEXT, hash: "abc", appliedAtMs: 1_700_000_000_000 },
    ...{ file: { hash, problems }, taken: 0, refused: problems.length },
  };
}

Deno.test("/api/policy and /api/config show the policy in force as it was written, and apart from it what is wrong with the file", async () => {
  const faults = [
    { line: 3, pointer: "/methodConfig/0/colapser", why: "there is no such key" },
    { line: 0, pointer: "", why: "and 2 problems more" },
  ];
  await withAdmin({ policy: () => status(faults, "def") }, async ({ ask }) => {
    const shown = JSON.parse((await ask("/api/policy")).text);
    assertEquals(shown, {
      path: "/etc/policy.json",
      applied: { methodConfig: [{ name: [{}], collapser: { ttl: "53s" } }] },
      appliedAt: "2023-11-14T22:13:20.000Z",
      hash: "abc",
      file: { hash: "def", problems: [faults[0], { ...faults[1], line: null }] },
    });
    assertEquals(JSON.parse((await ask("/api/config")).text).policy, shown);
  });
});

Deno.test("/api/policy has nothing to show where there is no policy file, and no digest of one that is gone", async () => {
  await withAdmin({}, async ({ ask }) => {
    assertEquals(JSON.parse((await ask("/api/policy")).text), null);
    assertEquals(JSON.parse((await ask("/api/config")).text).policy, null);
  });
  await withAdmin({ policy: () => status([], undefined) }, async ({ ask }) => {
    assertEquals(JSON.parse((await ask("/api/policy")).text).file, { hash: null, problems: [] });
  });
});
