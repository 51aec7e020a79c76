import { assertEquals } from "@std/assert";
import { Stream } from "../../lib/connection/mod.ts";
import { STATE } from "../../lib/connection/stream_state.ts";

Deno.test("Stream says which sides have ended in each state", () => {
  const stream = new Stream<unknown>(1, 10, 20);
  const ended = Object.entries(STATE).map(([name, state]) => {
    stream.state = state;
    return [name, stream.localEnded, stream.remoteEnded, stream.closed];
  });
  assertEquals(ended, [
    ["idle", false, false, false],
    ["open", false, false, false],
    ["halfClosedLocal", true, false, false],
    ["halfClosedRemote", false, true, false],
    ["closed", true, true, true],
  ]);
});

Deno.test("Stream.lengthAgrees holds DATA to what was declared, exactly so at the end", () => {
  const stream = new Stream<unknown>(1, 10, 20);
  const verdicts = () =>
    [0, 4, 5, 6].map((bytes) => {
      stream.receivedBytes = bytes;
      return [stream.lengthAgrees(false), stream.lengthAgrees(true)];
    });
  assertEquals(verdicts().flat().every(Boolean), true, "nothing was declared");
  stream.declaredBytes = 5;
  assertEquals(verdicts(), [[true, false], [true, false], [true, true], [false, false]]);
});
