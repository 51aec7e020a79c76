import { assertEquals } from "@std/assert";
import { GET, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";
import { requestHead } from "../support/caller_end.ts";
import { block, splitBlock } from "../support/frames.ts";
import { message } from "../support/peer_end.ts";

/** Whatever is part of the key: by default every name, else what is listed, else all but some. */
const KEYS: readonly RigOptions[] = [
  {},
  { keyHeaders: ["authorization"] },
  { keyHeaders: [] },
  { ignoreHeaders: [":foo", "x-a"] },
];

Deno.test("CallerSession refuses a pseudo-header that is not defined, wherever it stands, and sends it nowhere (RFC 9113 §8.3)", async () => {
  for (const options of KEYS) {
    for (const path of [GET, PUT]) {
      await withRig(options, async (rig) => {
        const odd = await rig.caller();
        const head = requestHead(path);
        const foo = [":foo", "x"] as const;
        const heads = [[foo, ...head], [...head, foo], [...head, ["x-a", "b"], foo]] as const;
        for (const [i, fields] of heads.entries()) {
          const id = 1 + 2 * i;
          odd.sends(splitBlock(id, block(fields)), message(id, "1", { endStream: true }));
        }
        await rig.settle();
        const resets = odd.seen("RST_STREAM").map(({ streamId, code }) => [streamId, code]);
        assertEquals(resets, [1, 3, 5].map((id) => [id, "PROTOCOL_ERROR"]));
        rig.expectsRequests(0);
        const well = (await rig.caller()).call(path, "4"); // the backend is none the worse
        await rig.settle();
        rig.request(0).echoes();
        await rig.settle();
        well.expects(0, "re:4");
        assertEquals(rig.proxy.readiness.ready, true);
      });
    }
  }
});
