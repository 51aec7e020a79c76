import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import {
  AnswerDigest,
  type AnswerPrint,
  compileIgnoredFields,
  judge,
  judgeWithoutControl,
  likeness,
  type PrintOptions,
} from "../../lib/trust/mod.ts";
import { encode, entries } from "./messages.ts";

const OK = 0;
const PERMISSION_DENIED = 7;

function print(
  messages: readonly (Uint8Array | string)[],
  status = OK,
  options: Partial<PrintOptions> = {},
): AnswerPrint {
  const newHash = () => {
    const hash = createHash("sha256");
    return { update: (bytes: Uint8Array) => hash.update(bytes), digest: () => hash.digest("hex") };
  };
  const digest = new AnswerDigest({ newHash, ...options });
  for (const message of messages) {
    digest.add(typeof message === "string" ? encode([[1, message]]) : message);
  }
  return digest.end(status);
}

const MAP = encode(entries(2, ["a", "b", "c"]));
const MAP_OTHERWISE = encode(entries(2, ["c", "a", "b"]));

Deno.test("likeness calls a map in another order reordered, and the same order a match", () => {
  assertEquals(likeness(print([MAP]), print([MAP])), "match");
  assertEquals(likeness(print([MAP]), print([MAP_OTHERWISE])), "reordered");
});

Deno.test("likeness does not call a map of which one value is another reordered", () => {
  const other = encode([...entries(2, ["c", "a"]), [2, [[1, "b"], [2, "value of c"]]]]);
  assertEquals(likeness(print([MAP]), print([other])), "different");
});

Deno.test("likeness sees another status behind equal messages", () => {
  assertEquals(likeness(print(["page"]), print(["page"], PERMISSION_DENIED)), "different");
  assertEquals(likeness(print([], PERMISSION_DENIED), print([], PERMISSION_DENIED)), "match");
});

Deno.test("likeness sees a shorter stream, pages in another order, and where a message ends", () => {
  assertEquals(likeness(print(["1", "2"]), print(["1"])), "different");
  assertEquals(likeness(print(["1", "2"]), print(["2", "1"])), "different");
  const [one, two] = [encode([[1, "1"]]), encode([[1, "2"]])];
  assertEquals(likeness(print([one, two]), print([Uint8Array.of(...one, ...two)])), "different");
});

Deno.test("likeness looks for order in each message of a stream, empty and unreadable ones beside", () => {
  const [empty, torn] = [new Uint8Array(), Uint8Array.of(0x0a, 0x7f)];
  assertEquals(
    likeness(print([empty, torn, MAP]), print([empty, torn, MAP_OTHERWISE])),
    "reordered",
  );
});

Deno.test("likeness compares what is not protobuf by its bytes alone", () => {
  const plain = { protobuf: false, ignored: compileIgnoredFields(["2"]).ignored };
  assertEquals(likeness(print([MAP], OK, plain), print([MAP_OTHERWISE], OK, plain)), "different");
  assertEquals(likeness(print([MAP], OK, plain), print([MAP], OK, plain)), "match");
});

Deno.test("likeness calls answers that differ in ignored fields alone a match", () => {
  const options = { ignored: compileIgnoredFields(["3.1"]).ignored };
  const stamped = (stamp: string, who: string) =>
    print([encode([[3, [[1, stamp], [2, "content"]]], [4, who]])], OK, options);
  assertEquals(likeness(stamped("now", "me"), stamped("then", "me")), "match");
  assertEquals(likeness(stamped("now", "me"), stamped("then", "you")), "different");
});

const [A, B, C] = [print(["a"]), print(["b"]), print(["c"])];
const SUSPECT = { shared: A, own: B, raced: false };

Deno.test("judge calls equal answers a match although a write came between", () => {
  assertEquals(judge({ shared: A, own: A, raced: true }), "match");
  assertEquals(
    judge({ shared: print([MAP]), own: print([MAP_OTHERWISE]), raced: true }),
    "reordered",
  );
});

Deno.test("judge blames a write for a difference before anything else", () => {
  const confirmed = { ...SUSPECT, leaderAgain: A, followerAgain: B };
  assertEquals(judge({ ...confirmed, raced: true }), "raced");
  assertEquals(judge({ ...confirmed, raced: false }), "mismatch");
});

Deno.test("judge asks for control runs, the leader's first, and only on suspicion", () => {
  assertEquals(judge(SUSPECT), "ask_leader");
  assertEquals(judge({ ...SUSPECT, leaderAgain: A }), "ask_follower");
});

Deno.test("judge calls a clock unstable, not a mismatch", () => {
  assertEquals(judge({ ...SUSPECT, leaderAgain: C }), "unstable");
  // The answer changed for all between the two questions, unseen by us: the leader now has the follower's.
  assertEquals(judge({ ...SUSPECT, leaderAgain: B }), "unstable");
});

Deno.test("judge calls a value that came and went unstable, not a mismatch", () => {
  assertEquals(judge({ ...SUSPECT, leaderAgain: A, followerAgain: A }), "unstable");
  assertEquals(judge({ ...SUSPECT, leaderAgain: A, followerAgain: C }), "unstable");
});

Deno.test("judge confirms a mismatch through maps whose order changes at every run", () => {
  const mine = print([MAP]), mineAgain = print([MAP_OTHERWISE]);
  const yours = print([encode(entries(2, ["x", "y"]))]);
  const yoursAgain = print([encode(entries(2, ["y", "x"]))]);
  assertEquals(
    judge({
      shared: mine,
      own: yours,
      raced: false,
      leaderAgain: mineAgain,
      followerAgain: yoursAgain,
    }),
    "mismatch",
  );
});

Deno.test("judgeWithoutControl accuses nobody, but knows what was confirmed", () => {
  assertEquals(judgeWithoutControl(SUSPECT), "unstable");
  assertEquals(judgeWithoutControl({ ...SUSPECT, leaderAgain: A }), "unstable");
  assertEquals(judgeWithoutControl({ ...SUSPECT, leaderAgain: A, followerAgain: B }), "mismatch");
  assertEquals(judgeWithoutControl({ shared: A, own: A, raced: false }), "match");
});
