import { assertEquals } from "@std/assert";
import { encodeStateless, HeaderCache, HpackEncoder, OutputBuffer } from "../../../lib/wire/mod.ts";
import { randomFields } from "../fields.ts";
import { ModelDecoder } from "../models/hpack.ts";
import type { Target } from "../run.ts";

const MOST_BLOCKS = 30;

/** Equal fields are one object only as long as the cache that made them remembers, which a test may cut short. */
let cache = new HeaderCache();
let casesLeft = 0;

/** What our encoder writes, a plain decoder reads, whatever table it allows. */
export const hpackEncoder: Target = {
  name: "hpack-encoder",
  about: "what we encode, read by a plain decoder, under changing table sizes",
  run(draws) {
    if (casesLeft-- <= 0) {
      cache = new HeaderCache();
      casesLeft = 200;
    }
    const encoder = new HpackEncoder();
    const model = new ModelDecoder();
    const out = new OutputBuffer();
    for (let left = 1 + draws.below(MOST_BLOCKS); left > 0; left--) {
      while (draws.chance(0.1)) {
        const bytes = draws.pick([4_096, 0, 100, 1_000, 65_536]);
        draws.note(`a table of ${bytes}`);
        encoder.setMaxTableBytes(bytes);
        model.allow(bytes);
      }
      const fields = randomFields(draws).map((field) =>
        cache.field(cache.name(field.name), field.value, field.sensitive ?? false)
      );
      out.clear();
      encoder.writeSizeUpdate(out);
      if (draws.chance(0.2)) {
        const block = encodeStateless(fields);
        out.append(block, 0, block.length);
      } else for (const field of fields) encoder.write(out, field);
      const block = model.decode(out.bytes.slice(0, out.length));
      draws.note(`a block of ${out.length} bytes for ${fields.length} fields`);
      assertEquals(
        "fields" in block
          ? block.fields.map(({ name, value, sensitive = false }) => ({ name, value, sensitive }))
          : block.broken,
        fields.map(({ name, value, sensitive }) => ({ name, value, sensitive })),
      );
    }
  },
};
